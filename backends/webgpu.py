"""WebGPU through ONNX Runtime's plug-in: any maker's graphics processor, no vendor's software.

Dawn implements it on Direct3D 12, Vulkan or Metal. Run by us on a processor only, with SwiftShader
as the Vulkan driver: docs/webgpu.md has the results and the limits. The provider (0.4.0) cannot
select one of several adapters: it asks Dawn for the powerful one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# (the runtime ships no complete types)

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, helper

from backends import hardware
from backends.base import (
    Array,
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Device,
    DeviceValue,
    DType,
    Feeds,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
    TensorSpec,
)
from backends.forms import AttentionForm, GeluForm
from backends.onnx_runtime.adapters import adapter_of, driver_of, memory_of
from backends.onnx_runtime.installed import installed
from backends.onnx_runtime.plugins import plugin_devices
from backends.onnx_runtime.provider import Provider

if TYPE_CHECKING:
    import onnxruntime as ort

MODULE = "onnxruntime_ep_webgpu"
PROVIDER = "WebGpuExecutionProvider"
# ONNX Runtime prefixes each with "ep.webgpuexecutionprovider.".
OPTIONS = {
    # Without it a buffer that could not be made is no error: the numbers are just not computed.
    "validationMode": "basic",
    "powerPreference": "high-performance",
}
# The id of the device on a processor; a graphics processor's is its number among the adapters.
SOFTWARE = "software"
_DISTRIBUTION = "onnxruntime-ep-webgpu"
_PACKS = ("webgpu",)
_NO_ADAPTER = "no driver offers a graphics processor to WebGPU ({api})"
_LARGEST_ERRORS = {Precision.F32: 1e-3, Precision.F16: 1e-2}
# More tokens than the 32 from which on attention is fused, and not a multiple of its tiles.
_TOKENS, _HEADS, _HEAD_WIDTH = 77, 2, 40


class WebGpuBackend(Backend):
    """The one graphics adapter that WebGPU's provider selects."""

    name = "webgpu"

    def probe(self) -> list[Device]:
        """List every adapter, usable or with the reason why not; a software adapter if allowed.

        Computes a few numbers on the adapter that the provider takes. Never raises.
        """
        if find_spec(MODULE) is None:
            return _without_plugin(hardware.list_adapters())
        try:
            listed = real_devices()
        except BackendError as error:
            return [Device(self.name, "0", "graphics", unusable=str(error))]
        if not listed:
            return [Device(self.name, "0", "graphics", unusable="no graphics processor is listed")]
        adapters = hardware.list_adapters()
        if _is_software(listed[0]):
            return [self._tried(SOFTWARE, f"{hardware.cpu_name()}, as a software adapter")]
        taken = _taken(adapters, listed)
        if taken is None:
            return [self._tried("0", "graphics")]
        found = enumerate(adapters)
        return [
            self._tried(str(i), a.name) if i == taken else self._left(i, a, adapters[taken])
            for i, a in found
        ]

    def _tried(self, identity: str, name: str) -> Device:
        automatic = identity != SOFTWARE
        try:
            precisions = _precisions()
        except BackendError as error:
            reason = _reason(error)
            return Device(self.name, identity, name, unusable=reason, automatic=automatic)
        return Device(self.name, identity, name, precisions, automatic=automatic)

    def _left(self, index: int, adapter: hardware.Adapter, taken: hardware.Adapter) -> Device:
        reason = adapter.unusable or f"WebGPU's provider takes {taken.name} and no other"
        return Device(self.name, str(index), adapter.name, unusable=reason)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms with kernels in the provider; attention is fused if correct."""
        fused = device.usable and all(map(_attention_is_right, device.precisions))
        return OperatorSet(
            opset=20,
            elements=(DType.F32, DType.F16),
            attention=AttentionForm.MULTI_HEAD if fused else AttentionForm.PRIMITIVE,
            gelu=GeluForm.STANDARD,
        )

    def fingerprint(self, device: Device) -> str:
        """Return the versions of the plug-in and of ONNX Runtime, the driver and the adapter."""
        try:
            plugin = version(_DISTRIBUTION)
        except PackageNotFoundError:
            plugin = "none"
        driver = "" if device.id == SOFTWARE else f" {driver_of(adapter_of(device))}"
        return f"{_DISTRIBUTION} {plugin} {installed()}{driver} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the adapter's memory, or the host's."""
        if device.id == SOFTWARE:
            return hardware.host_memory()
        return memory_of(adapter_of(device))

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError or RunCancelled."""
        if cancel.is_set():
            raise RunCancelled
        if device.unusable:
            raise BackendError(device.unusable)
        from backends.onnx_runtime.static import quiet_options

        return _load(graph, quiet_options(), cancel)


def _without_plugin(adapters: tuple[hardware.Adapter, ...]) -> list[Device]:
    """Return the graphics processor that the plug-in could use, or none."""
    named = next((adapter.name for adapter in adapters if not adapter.unusable), None)
    return [
        Device(
            WebGpuBackend.name,
            "0",
            named or "graphics",
            unusable=f"{_DISTRIBUTION} is not installed",
            install=_PACKS if named else (),
        )
    ]


def provider(device: "ort.OrtEpDevice", layout: str = "NHWC") -> Provider:
    """Return the provider on one of its devices, with convolutions in layout NHWC or NCHW."""
    return Provider(PROVIDER, OPTIONS | {"preferredLayout": layout}, (device,))


def layout_of(graph: Graph) -> str:
    """Return the provider's own layout, except where its convolutions are wrong in it.

    Kernels larger than 1x1 are wrong if input channels come in threes and not in fours (onnxruntime
    issue 29651), as in the first one of inpainting models, which has nine.
    """
    model = ModelProto.FromString(graph.model)
    shapes = {tensor.name: tensor.dims for tensor in model.graph.initializer}
    kernels = (n.input[1] for n in model.graph.node if n.op_type == "Conv")
    # A kernel that is an input is that of a side branch, beside a stored one of as many channels.
    read = [shapes[name] for name in kernels if name in shapes]
    wrong = any(d[1] > 3 and d[1] % 3 == 0 and d[1] % 4 for d in read)
    return "NCHW" if wrong else "NHWC"


def real_devices() -> "tuple[ort.OrtEpDevice, ...]":
    """Return the provider's devices that are not virtual. Raises BackendError.

    A session on a virtual device ends the process.
    """
    devices = plugin_devices(MODULE)
    return tuple(d for d in devices if d.device.metadata.get("is_virtual") != "1")


def _is_software(device: "ort.OrtEpDevice") -> bool:
    """True for the software adapter of ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1, on a processor."""
    return device.device.type.name == "CPU"


def _taken(
    adapters: tuple[hardware.Adapter, ...], listed: "tuple[ort.OrtEpDevice, ...]"
) -> int | None:
    """Return the adapter Dawn takes when asked for power: the first with its own memory."""
    ids = {(d.device.vendor_id, d.device.device_id) for d in listed}
    usable = [i for i, a in enumerate(adapters) if not a.unusable]
    known = [i for i in usable if (p := adapters[i].pci) and (p.vendor, p.device) in ids]
    candidates = known or usable
    return min(candidates, key=lambda i: adapters[i].integrated is not False, default=None)


def _reason(error: BackendError) -> str:
    message = str(error)
    if "Failed to get a WebGPU adapter" not in message:
        return message
    api = "Direct3D 12, Vulkan or Metal; on Linux libvulkan.so.1 must be there too"
    return _NO_ADAPTER.format(api=api)


# Sessions share Dawn's device, which the provider does not guard: a run during another session's
# load was observed to end the process.
_one_at_a_time = Lock()


class _GuardedSession:
    """A session that runs only while no other one does. Cancelling it does not wait."""

    def __init__(
        self, graph: Graph, options: "ort.SessionOptions", chosen: Provider, cancel: Cancellation
    ) -> None:
        from backends.onnx_runtime.bound import Binding
        from backends.onnx_runtime.session import OnnxRuntimeSession

        self.inputs, self.outputs = graph.inputs, graph.outputs
        with _one_at_a_time:
            if cancel.is_set():
                raise RunCancelled
            self._session = OnnxRuntimeSession(
                graph, options, chosen, cancel, binding=Binding.ALWAYS
            )

    def run(self, feeds: Feeds) -> dict[str, Array]:
        with _one_at_a_time:
            return self._session.run(feeds)

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        with _one_at_a_time:
            return self._session.run_on_device(feeds)

    def pin(self, name: str, array: Array) -> None:
        self._session.pin(name, array)

    def cancel(self) -> None:
        self._session.cancel()

    def close(self) -> None:
        with _one_at_a_time:
            self._session.close()


def _load(graph: Graph, options: "ort.SessionOptions", cancel: Cancellation) -> Session:
    devices = real_devices()
    if not devices:
        raise BackendError("no graphics processor is listed")
    return _GuardedSession(graph, options, provider(devices[0], layout_of(graph)), cancel)


# --- trying the adapter, as the plug-in does not tell what it can do ---


class _Unstoppable:
    """A `Cancellation` for work that is over before anyone could ask."""

    def is_set(self) -> bool:
        return False

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()


@cache
def _precisions() -> tuple[Precision, ...]:
    """Return the precisions the adapter multiplies in. Raises BackendError if there are none."""
    _run("Mul", Precision.F32)
    with suppress(BackendError):  # "requires f16 but the device does not support it"
        _run("Mul", Precision.F16)
        return (Precision.F16, Precision.F32)
    return (Precision.F32,)


@cache
def _attention_is_right(precision: Precision) -> bool:
    """True if MultiHeadAttention equals NumPy's result, causal and not."""
    try:
        return all(
            _error(_run("MultiHeadAttention", precision, causal), _attention(causal))
            < _LARGEST_ERRORS[precision]
            for causal in (False, True)
        )
    except BackendError:
        return False


def _run(kind: str, precision: Precision, causal: bool = False) -> Array:
    """Return the result of one node on `_values`. Raises BackendError."""
    from backends.onnx_runtime.static import quiet_options

    element = helper.np_dtype_to_tensor_dtype(precision.dtype.numpy)
    shape = (1, _TOKENS, _HEADS * _HEAD_WIDTH)
    names = ("q", "k", "v")
    node = helper.make_node(kind, names, ["y"], kind, domain="com.microsoft")
    if kind == "Mul":
        names = names[:2]
        node = helper.make_node(kind, names, ["y"], kind)
    else:
        chosen = {"num_heads": _HEADS, "unidirectional": int(causal)}
        node.attribute.extend(helper.make_attribute(key, a) for key, a in chosen.items())
    ends = [helper.make_tensor_value_info(name, element, shape) for name in (*names, "y")]
    graph = helper.make_graph([node], kind, ends[:-1], ends[-1:])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    *inputs, output = (TensorSpec(name, precision.dtype, shape) for name in (*names, "y"))
    tried = Graph(kind, model.SerializeToString(), {}, tuple(inputs), (output,), precision)
    options = quiet_options()
    options.log_severity_level = 4  # What an adapter lacks is no news.
    session = _load(tried, options, _Unstoppable())
    try:
        values = zip(names, _values(), strict=False)
        return session.run({name: a.astype(precision.dtype.numpy) for name, a in values})["y"]
    finally:
        session.close()


def _values() -> Array:
    """Return query, key and value [3, 1, tokens, heads * head width]."""
    random = np.random.default_rng(0)
    return random.standard_normal((3, 1, _TOKENS, _HEADS * _HEAD_WIDTH), np.float32)


def _attention(causal: bool) -> Array:
    """Compute softmax(q k^T / sqrt(head width)) v of `_values`, per head."""
    split = _values().reshape(3, _TOKENS, _HEADS, _HEAD_WIDTH).transpose(0, 2, 1, 3)
    q, k, v = split.astype(np.float64)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(_HEAD_WIDTH)
    if causal:
        scores += np.triu(np.full((_TOKENS, _TOKENS), -np.inf), 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ v
    return mixed.transpose(1, 0, 2).reshape(1, _TOKENS, -1)


def _error(actual: Array, expected: Array) -> float:
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))
