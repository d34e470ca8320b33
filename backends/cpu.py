"""ONNX Runtime on the processor, in float32: part of the base install, and the numeric reference.

Its CPU kernels for convolution, GELU and fused attention exist in float32 only (ONNX Runtime 1.31,
OperatorKernels.md), so graphs are float32 whatever the checkpoint's type.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

from importlib.util import find_spec
from typing import TYPE_CHECKING

from backends import hardware
from backends.base import (
    Artifact,
    Backend,
    Cancellation,
    Device,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    Session,
    WorkingMemory,
)
from backends.forms import AttentionForm, BlockForm, GeluForm, LinearForm
from backends.onnx_runtime.installed import builds, conflict, installed

if TYPE_CHECKING:
    import onnxruntime as ort

_OPERATORS = OperatorSet(
    opset=20,
    attention=AttentionForm.MULTI_HEAD,
    wide_keys=True,
    gelu=GeluForm.STANDARD,
    linear=LinearForm.FUSED_MATMUL,
    blocks=BlockForm(),
    offsets_apart=frozenset({Precision.F32}),
    reads_in_place=True,
)


class CpuBackend(Backend):
    """ONNX Runtime on the processor: the backend that works on every machine."""

    name = "cpu"

    def probe(self) -> list[Device]:
        """Return the processor as the only device. Never raises."""
        there = find_spec("onnxruntime") is not None
        missing = conflict(builds()) if there else "onnxruntime is not installed"
        name = hardware.cpu_name()
        return [Device(self.name, "cpu", name, (Precision.F32,), unusable=missing)]

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms with fast float32 kernels in ONNX Runtime's CPU provider."""
        return _OPERATORS

    def fingerprint(self, device: Device) -> str:
        """Return ONNX Runtime's version and the processor's name."""
        return f"{installed()} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return main memory."""
        return hardware.host_memory()

    def working_memory(self, device: Device) -> WorkingMemory:
        """Return the memory of an arena that is emptied after each run."""
        return WorkingMemory(empties=True, least_run_bytes=4 << 20, simulates=True)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError or RunCancelled."""
        from backends.onnx_runtime.blocks import with_quick_blocks
        from backends.onnx_runtime.parts import SessionInParts, cut
        from backends.onnx_runtime.provider import CPU, Provider
        from backends.onnx_runtime.session import OnnxRuntimeSession

        def load(part: Graph) -> OnnxRuntimeSession:
            return OnnxRuntimeSession(part, session_options(part), Provider(CPU), cancel)

        quick = with_quick_blocks(graph)
        parts = cut(quick)
        return SessionInParts(quick, parts, load) if len(parts) > 1 else load(quick)


def session_options(graph: Graph) -> "ort.SessionOptions":
    import onnxruntime as ort

    from backends.onnx_runtime.foreign import bound_memory

    options = ort.SessionOptions()
    options.log_severity_level = 3
    # The arena is emptied after each run, which it is only of what no weights lie in.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    # The arena reuses what is free. To plan that while loading, each result is compared with all
    # those before it: half the time of loading a small network. Runs take the same memory.
    options.enable_mem_reuse = False
    if graph.is_foreign:
        bound_memory(options)
    return options
