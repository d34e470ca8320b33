"""WebGPU for real, on a Vulkan driver of the processor (`make swiftshader`) or a graphics card.

Without either the tests that compute are skipped. SwiftShader does some ten million operations a
second: sizes are as small as they can be and still take every branch.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from PIL import Image

from app.cli import run
from backends import hardware, webgpu
from backends.base import (
    Array,
    BackendError,
    Device,
    DType,
    Graph,
    OperatorSet,
    Precision,
    TensorSpec,
)
from backends.cpu import CpuBackend
from backends.forms import AttentionForm, GeluForm
from backends.hardware import Adapter, PciId
from backends.onnx_runtime.session import OnnxRuntimeSession
from backends.onnx_runtime.static import quiet_options
from backends.webgpu import OPTIONS, WebGpuBackend
from engine.graphs.unet import timestep_embedding
from tests import swiftshader
from tests.backends.networks import NETWORKS, network
from tests.backends.operators.test_tables import lacking, table_of
from tests.backends.samples import NeverCancelled, Target, relative_error
from tests.graphs.networks import SMALL_CLIP, small_unet
from tests.pipeline.jobs import psnr
from tests.thinned import thinned

# Against the CPU provider's float32. Convolutions and normalisations add up in another order.
TOLERANCES = {
    (part, precision): tolerance
    for part in NETWORKS
    for precision, tolerance in ((Precision.F32, 1e-5), (Precision.F16, 1e-2))
}
RANDOM = np.random.default_rng(3)
BACKEND = WebGpuBackend()
DEVICE = next((device for device in BACKEND.probe() if device.usable), None)
# With the driver in place no test may be skipped.
computing = pytest.mark.skipif(
    DEVICE is None and not swiftshader.is_offered(),
    reason="no graphics card, and no software driver: make swiftshader",
)

# A minute on a processor: in the ring that may take longer.
pytestmark = pytest.mark.oracle


def device() -> Device:
    assert DEVICE is not None
    return DEVICE


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def feeds_of(part: str) -> Mapping[str, Array]:
    """Inputs of one of `NETWORKS`; the UNet for any size halves odd sizes."""
    if part.startswith("text"):
        tokens = RANDOM.integers(0, SMALL_CLIP.vocabulary, (2, 77))
        masked = {"attention_mask": np.tile(np.arange(77) < 9, (2, 1)).astype(np.float32)}
        return {"tokens": tokens} | (masked if "hidden" in part else {})
    if part == "vae decoder":
        return {"latent": drawn(1, 4, 3, 5)}
    if part == "vae encoder":
        return {"image": drawn(1, 3, 12, 8)}
    channels, size = (9 if "linear" in part else 4), ((8, 4) if "even" in part else (5, 7))
    return {
        "sample": drawn(1, channels, *size),
        "timestep_embedding": timestep_embedding(small_unet(), 512.5),
        "context": drawn(2, 5, 24),
    }


@computing
# Each takes seconds to compile; the UNet's variants differ in few operators.
@pytest.mark.parametrize(
    "part",
    thinned(NETWORKS, [p for p in NETWORKS if not p.startswith("unet ")], pytest.mark.slow),
)
def test_every_network_computes_the_same_as_on_the_processor(part: str) -> None:
    feeds = feeds_of(part)
    oracle = CpuBackend()
    reference = Target(oracle, oracle.probe()[0])
    expected = reference.load(network(part, oracle.operators(reference.device))).run(feeds)
    for precision in device().precisions:
        target = Target(BACKEND, device(), precision, precision.dtype)
        graph = network(part, BACKEND.operators(device()), precision.dtype, precision)
        session = target.load(graph)
        for name, result in session.run(feeds).items():
            error = relative_error(result, expected[name])
            assert error < TOLERANCES[part, precision], (part, precision)
        session.close()


@computing
def test_nine_channels_use_the_layout_with_correct_results() -> None:
    """In the other one they are not: onnxruntime issue 29651. Where it is cured, this tells."""
    graph = convolution(channels=9)
    expected = Target(CpuBackend(), CpuBackend().probe()[0]).load(graph)
    feeds = {"x": drawn(1, 9, 5, 7)}
    right = expected.run(feeds)["y"]
    assert webgpu.layout_of(graph) == "NCHW"
    assert relative_error(Target(BACKEND, device()).load(graph).run(feeds)["y"], right) < 1e-5
    wrong = loaded(graph, preferredLayout="NHWC").run(feeds)["y"]
    assert relative_error(wrong, right) > 0.1


@pytest.mark.parametrize(
    ("channels", "layout"), [(3, "NHWC"), (4, "NHWC"), (6, "NCHW"), (12, "NHWC")]
)
def test_the_providers_own_layout_is_kept_if_its_results_are_correct(
    channels: int, layout: str
) -> None:
    assert webgpu.layout_of(convolution(channels)) == layout


def convolution(channels: int) -> Graph:
    """A 3x3 convolution to eight channels."""
    shape, result = (1, channels, "height", "width"), (1, 8, "height", "width")
    weights = np.random.default_rng(0).standard_normal((8, channels, 3, 3), np.float32)
    return make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], "Conv", pads=[1, 1, 1, 1])],
        {"w": weights},
        (TensorSpec("x", DType.F32, shape), TensorSpec("y", DType.F32, result)),
    )


def make_graph(
    nodes: list[NodeProto], constants: dict[str, Array], ends: tuple[TensorSpec, TensorSpec]
) -> Graph:
    """A graph whose numbers are inside, with one input and one output."""
    x, y = (helper.make_tensor_value_info(e.name, TensorProto.FLOAT, e.shape) for e in ends)
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    proto = helper.make_graph(nodes, "graph", [x], [y], tensors)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    return Graph("graph", model.SerializeToString(), {}, ends[:1], ends[1:], Precision.F32)


def loaded(graph: Graph, **options: str) -> OnnxRuntimeSession:
    """A session with more options than the backend gives."""
    (first, *_) = webgpu.real_devices()
    asked = webgpu.provider(first)
    asked = msgspec.structs.replace(asked, options={**asked.options, **options})
    return OnnxRuntimeSession(graph, quiet_options(), asked, NeverCancelled())


# --- what is found out about the adapter ---


@computing
def test_attention_is_fused_only_if_its_results_are_correct() -> None:
    """On 4-wide subgroups it is not: docs/webgpu.md. Where the plug-in is cured, this tells."""
    form = BACKEND.operators(device()).attention
    assert (form is AttentionForm.PRIMITIVE) == swiftshader.is_offered()


@computing
def test_the_software_adapter_is_named_as_such_and_not_automatic() -> None:
    if not swiftshader.is_offered():
        pytest.skip("there is a graphics card")
    assert device().id == webgpu.SOFTWARE
    assert not device().automatic
    assert device().name.endswith("as a software adapter")
    assert device().precisions == (Precision.F32,)  # SwiftShader has no shader-f16


def test_the_fused_form_has_kernels_for_every_network_too() -> None:
    fused = OperatorSet(20, attention=AttentionForm.MULTI_HEAD, gelu=GeluForm.STANDARD)
    for part in NETWORKS:
        for element in (DType.F32, DType.F16):
            graph = network(part, fused, element, Precision[element.name])
            assert not lacking(table_of("webgpu"), graph), part


# --- what goes wrong ---


@computing
def test_a_node_that_would_run_on_the_processor_is_an_error() -> None:
    graph = network("vae encoder", BACKEND.operators(device()))
    with pytest.raises(BackendError, match=r"1 of \d+ nodes .* on the processor: Conv"):
        loaded(graph, forceCpuNodeNames=first_conv(graph))


def first_conv(graph: Graph) -> str:
    nodes = ModelProto.FromString(graph.model).graph.node
    return next(node.name for node in nodes if node.op_type == "Conv")


@computing
def test_an_invalid_option_is_an_error_and_not_a_session_on_the_processor() -> None:
    graph = network("vae encoder", BACKEND.operators(device()))
    for option in OPTIONS:
        with pytest.raises(BackendError, match="Invalid"):
            loaded(graph, **{option: "nonsense"})


@computing
def test_a_buffer_that_cannot_be_made_is_out_of_memory() -> None:
    """In the middle of the graph, so that nobody would notice from the output's shape."""
    if not swiftshader.is_offered():
        pytest.skip("a graphics card may well have room for it")
    graph = expanding(rows=300_000)
    session = Target(BACKEND, device()).load(graph)
    with pytest.raises(BackendError) as caught:
        session.run({"x": np.ones((1, 1024), np.float32)})
    assert caught.value.out_of_memory
    session.close()
    small = Target(BACKEND, device()).load(expanding(rows=3))
    np.testing.assert_array_equal(small.run({"x": np.ones((1, 1024), np.float32)})["y"], 2.0)
    small.close()


def expanding(rows: int) -> Graph:
    """max over `rows` copies of x, plus x; each copy is 4 kB."""
    nodes = [
        helper.make_node("Expand", ["x", "shape"], ["copies"], "Expand"),
        helper.make_node("Add", ["copies", "x"], ["sums"], "Add"),
        helper.make_node("ReduceMax", ["sums", "axes"], ["y"], "ReduceMax", keepdims=0),
    ]
    ends = (TensorSpec("x", DType.F32, (1, 1024)), TensorSpec("y", DType.F32, (1024,)))
    return make_graph(nodes, {"shape": np.array([rows, 1024]), "axes": np.array([0])}, ends)


# --- devices that are not here: what is said of them ---


def listing(*devices: tuple[int, int], kind: str = "GPU", **metadata: str) -> tuple[object, ...]:
    """Devices as the plug-in lists them."""
    return tuple(
        SimpleNamespace(
            device=SimpleNamespace(
                type=SimpleNamespace(name=kind), vendor_id=v, device_id=d, metadata=metadata
            )
        )
        for v, d in devices
    )


def nothing_but(result: object) -> object:
    """A function that gives that, whatever it is asked."""

    def same(name: str) -> object:
        return result

    return same


INTEGRATED = Adapter("Intel", "Iris Xe", PciId(0x8086, 0x9A49), driver="i915", integrated=True)
CARD = Adapter("NVIDIA", "RTX 4070", PciId(0x10DE, 0x2786), memory_total=12 << 30, integrated=False)
DISPLAY = Adapter("QEMU", "stdvga", PciId(0x1234, 0x1111), unusable="it is a display")


@pytest.fixture
def laptop(monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    """The answer on a laptop whose adapter computes in both precisions."""
    adapters = (DISPLAY, INTEGRATED, CARD)
    listed = listing((0x8086, 0x9A49), (0x10DE, 0x2786))
    monkeypatch.setattr(webgpu, "real_devices", lambda: listed)
    monkeypatch.setattr(webgpu, "_precisions", lambda: (Precision.F16, Precision.F32))
    monkeypatch.setattr(hardware, "list_adapters", lambda: adapters)
    return BACKEND.probe()


def test_only_the_powerful_one_of_two_adapters_is_usable(
    laptop: list[Device],
) -> None:
    display, integrated, card = laptop
    assert display.unusable == "it is a display"
    assert integrated.unusable == "WebGPU's provider takes RTX 4070 and no other"
    assert (card.usable, card.automatic, card.name) == (True, True, "RTX 4070")
    assert card.precisions == (Precision.F16, Precision.F32)
    with pytest.raises(BackendError, match="takes RTX 4070"):
        Target(BACKEND, integrated).load(network("vae encoder", OperatorSet(20)))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("Failed to get a WebGPU adapter: No supported adapters", "no driver offers"),
        ("something else", "something else"),
    ],
)
def test_an_adapter_without_a_driver_has_that_reason(
    monkeypatch: pytest.MonkeyPatch, error: str, said: str
) -> None:
    def none() -> tuple[Precision, ...]:
        raise BackendError(error)

    monkeypatch.setattr(webgpu, "real_devices", lambda: listing((0x10DE, 0x2786)))
    monkeypatch.setattr(webgpu, "_precisions", none)
    monkeypatch.setattr(hardware, "list_adapters", lambda: (CARD,))
    (device,) = BACKEND.probe()
    assert not device.usable
    assert said in (device.unusable or "")


def test_virtual_devices_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session on one ends the process."""
    listed = (*listing((0, 0), is_virtual="1"), *listing((0x10DE, 0x2786)))
    monkeypatch.setattr(webgpu, "plugin_devices", nothing_but(listed))
    assert webgpu.real_devices() == listed[1:]
    monkeypatch.setattr(webgpu, "plugin_devices", nothing_but(listed[:1]))
    (device,) = BACKEND.probe()
    assert device.unusable == "no graphics processor is listed"


def test_without_the_plugin_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.onnx_runtime.plugins.find_spec", nothing_but(None))
    (device,) = BACKEND.probe()
    assert device.unusable == "onnxruntime-ep-webgpu is not installed"


# --- the engine on it ---


_AT_ONCE = """
from threading import Thread
from tests import swiftshader
swiftshader.offer()
import numpy as np
from tests.backends.test_webgpu import BACKEND, Target, convolution, device, drawn
target = Target(BACKEND, device())
ran = target.load(convolution(4))
loads = Thread(target=lambda: [target.load(convolution(c)).close() for c in range(1, 30)])
loads.start()
while loads.is_alive():
    ran.run({"x": drawn(1, 4, 5, 7)})
print("survived")
"""


@computing
def test_one_session_runs_while_another_is_loaded() -> None:
    """The engine does so; the provider alone ends the process, hence one of its own."""
    told = subprocess.run([sys.executable, "-c", _AT_ONCE], capture_output=True, text=True)
    assert told.stdout.strip() == "survived", told.stderr[-2000:]


@computing
@pytest.mark.slow
def test_the_command_makes_the_picture_of_the_cpu_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFELIGHT_CACHE", str(tmp_path / "cache"))
    pictures: list[Array] = []
    for backend in ("cpu", "webgpu"):
        out = tmp_path / f"{backend}.png"
        chosen = ["--backend", backend, "--precision", "f32", "--out", str(out)]
        size = ["--seed", "1", "--steps", "2", "--size", "64x64"]
        assert run(["generate", "a red house on the left by the sea", *size, *chosen]) == 0
        with Image.open(out) as opened:
            pictures.append(np.asarray(opened.convert("RGB")))
    assert psnr(pictures[1], pictures[0]) >= 60
