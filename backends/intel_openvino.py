"""OpenVINO on any x86 processor, Intel's or not: the fastest CPU path measured.

In bfloat16 where the processor has it (AVX512-BF16, AMX), in float32 on request. OpenVINO refuses
external data outside the model's folder, so weights are read as inputs of the graph and then
replaced by constants that share the memory of the mapped file.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, TensorProto, helper

from backends import hardware
from backends.base import (
    Array,
    Artifact,
    AttentionForm,
    Backend,
    BackendError,
    Cancellation,
    Device,
    DType,
    FileSlice,
    GeluForm,
    Graph,
    GroupNormForm,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
    TensorSpec,
    UpsamplingForm,
    WeightRef,
    all_feeds,
)

if TYPE_CHECKING:
    import openvino as ov


class OpenVinoBackend(Backend):
    """OpenVINO's CPU device."""

    name = "intel_openvino"

    def probe(self) -> list[Device]:
        """The processor, with the precisions OpenVINO reports for it. Never raises."""
        name = hardware.cpu_name()
        if find_spec("openvino") is None:
            return [Device(self.name, "cpu", name, unusable="openvino is not installed")]
        try:
            capabilities = _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        except (ImportError, RuntimeError) as error:
            return [Device(self.name, "cpu", name, unusable=f"OpenVINO does not start: {error}")]
        precisions = (Precision.F32,)
        if "BF16" in capabilities:
            precisions = (Precision.BF16, Precision.F32)
        return [Device(self.name, "cpu", name, precisions)]

    def operators(self, device: Device) -> OperatorSet:
        """Forms that OpenVINO's ONNX reader maps to single operations."""
        return OperatorSet(
            opset=23,
            elements=(DType.F32, DType.BF16),
            attention=AttentionForm.STANDARD,
            group_norm=GroupNormForm.INSTANCE,
            gelu=GeluForm.STANDARD,
            upsampling=UpsamplingForm.TRANSPOSED,
        )

    def fingerprint(self, device: Device) -> str:
        """OpenVINO's version and the processor."""
        import openvino as ov

        return f"openvino {ov.get_version()} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Main memory."""
        return hardware.host_memory()

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Make a graph ready to run. Raises BackendError, or RunCancelled if asked before."""
        if cancel.is_set():
            raise RunCancelled
        return OpenVinoSession(graph)


class OpenVinoSession:
    """A `backends.base.Session` over one OpenVINO inference request."""

    def __init__(self, graph: Graph) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._pinned: dict[str, Array] = {}
        self._cancelled = Event()
        options = {"INFERENCE_PRECISION_HINT": graph.precision.value}
        with _translated_errors():
            # The compiled model goes back to the arrays it shared: they live as long as it does.
            self._weights = _weight_arrays(graph.weights)
            model = _read_with_weights(graph, self._weights)
            self._request = _core().compile_model(model, "CPU", options).create_infer_request()

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        given = all_feeds(self.inputs, self._pinned, feeds)
        with _translated_errors():
            self._request.start_async(given, share_inputs=True)
            if self._cancelled.is_set():  # asked before there was a run to stop
                self._request.cancel()
            self._request.wait()
            return {
                spec.name: self._request.get_tensor(spec.name).data.copy() for spec in self.outputs
            }

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        self._cancelled.set()
        self._request.cancel()

    def close(self) -> None:
        """Free the compiled model and then the weights it read."""
        del self._request
        self._pinned.clear()
        self._weights.clear()


@cache
def _core() -> "ov.Core":
    """OpenVINO's entry point; made once, because it loads its plug-ins."""
    # Its model converter is of no use here, and brings a telemetry client along.
    sys.modules.setdefault("openvino.tools.ovc", None)  # pyright: ignore[reportArgumentType]
    import openvino as ov

    return ov.Core()


def _read_with_weights(graph: Graph, weights: Mapping[str, Array]) -> "ov.Model":
    """The graph as an OpenVINO model whose constants share memory with `weights`."""
    import openvino as ov

    model = _core().read_model(_weights_as_inputs(graph.model))
    for parameter in model.get_parameters():
        name = next(iter(parameter.output(0).get_names()))
        if name not in weights:
            continue
        element = parameter.get_element_type()
        # OpenVINO's binding knows bfloat16 only as 16-bit numbers with a type beside them.
        stored = weights[name].view(np.uint16) if element == ov.Type.bf16 else weights[name]
        tensor = ov.Tensor(stored, list(stored.shape), element)
        constant = ov.op.Constant(tensor, shared_memory=True)
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(constant.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


def _weights_as_inputs(model_bytes: bytes) -> bytes:
    """The same model with each external initializer turned into an input."""
    model = ModelProto.FromString(model_bytes)
    kept: list[TensorProto] = []
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            info = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            model.graph.input.append(info)
        else:
            kept.append(tensor)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model.SerializeToString()


def _weight_arrays(weights: Mapping[str, WeightRef]) -> dict[str, Array]:
    """Each weight as an array over its file's pages, or the array itself."""
    files: dict[Path, Array] = {}
    arrays: dict[str, Array] = {}
    for name, ref in weights.items():
        if isinstance(ref, FileSlice):
            if ref.path not in files:
                # Copy-on-write, as OpenVINO insists on writable arrays; nothing is ever written.
                files[ref.path] = np.memmap(ref.path, np.uint8, "c")
            stored = files[ref.path][ref.offset : ref.offset + ref.nbytes]
            arrays[name] = stored.view(ref.dtype.numpy).reshape(ref.shape)
        else:
            arrays[name] = np.ascontiguousarray(ref.array)
    return arrays


@contextmanager
def _translated_errors() -> Generator[None]:
    """OpenVINO's exceptions as ours."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:  # also weights files gone or cut short
        message = str(error)
        if "was canceled" in message:
            raise RunCancelled from error
        raise BackendError(message, out_of_memory="allocat" in message.lower()) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
