"""OpenVINO: Intel's graphics and neural processors, and any x86 processor, Intel's or not.

On a processor it is the fastest path measured, in bfloat16 if the processor has instructions for
it. Compiled networks for processors are not kept. docs/blob.md (`python -m benchmarks blob`): a
blob runs as fast as a fresh compile (0.95 to 1.00 of its processor time) and holds as much private
memory, and loading SD 1.5's UNet from it takes 0.5 s of processor time instead of 1.8; but it is as
large as the weights, 1.8 GB, and differs for every LoRA and every version of OpenVINO.

For graphics and neural processors the driver compiles kernels, which takes longer, so their blob is
kept, including the weights, one for each size: OpenVINO's documentation calls dynamic shapes on a
GPU a preview that "may crash or experience significant performance drops", and the NPU takes static
shapes only (docs.openvino.ai, "GPU Device" and "NPU Device"). No Intel GPU or NPU has run this
code; all but the device's name and options has run on a processor.

`devices` lists the devices, `options` OpenVINO's options; `model` binds weights, of which `offsets`
parts some; `session` runs.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from backends import hardware
from backends.base import (
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Compilation,
    Device,
    DType,
    Graph,
    MemoryInfo,
    OperatorSet,
    Progress,
    RunCancelled,
    Session,
    ShapeProfile,
    ShapeSupport,
    WorkingMemory,
    size_of,
)
from backends.forms import AttentionForm, BlockForm, GeluForm, GroupNormForm, UpsamplingForm
from backends.intel_openvino import devices
from backends.intel_openvino.rounding import rounds_to_8_bits
from backends.intel_openvino.session import BLOB, OpenVinoSession, translated_errors

if TYPE_CHECKING:
    import openvino as ov

_PACKS = ("intel-openvino",)
_CPU_OPERATORS = OperatorSet(
    opset=23,
    elements=(DType.F32, DType.BF16),
    attention=AttentionForm.STANDARD,
    group_norm=GroupNormForm.INSTANCE,
    gelu=GeluForm.STANDARD,
    upsampling=UpsamplingForm.TRANSPOSED,
    blocks=BlockForm(),
    multiplies_blocks=True,
)
# Single operations with kernels of their own in the GPU plug-in (src/plugins/intel_gpu/docs and
# primitives_list.hpp of openvino 2026); plain Resize, because the alternative was never measured.
_ACCELERATOR_OPERATORS = OperatorSet(
    opset=23,
    elements=(DType.F32, DType.F16),
    attention=AttentionForm.STANDARD,
    group_norm=GroupNormForm.STANDARD,
    gelu=GeluForm.STANDARD,
)


class OpenVinoBackend(Backend):
    """OpenVINO's GPU, CPU and NPU devices."""

    name = devices.BACKEND

    def probe(self) -> list[Device]:
        """List cards, integrated graphics, the processor, the NPU; and unusable Intel adapters."""
        cpu = hardware.cpu_name()
        if find_spec("openvino") is None:
            missing = "openvino is not installed"
            return [Device(self.name, "cpu", cpu, unusable=missing, install=_PACKS)]
        try:
            rounds = rounds_to_8_bits(core())
            return devices.found(core(), hardware.list_adapters(), cpu, rounds=rounds)
        except (ImportError, RuntimeError) as error:
            reason = f"OpenVINO does not start: {error}"
            return [Device(self.name, "cpu", cpu, unusable=reason)]

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that OpenVINO's ONNX reader maps to single operations."""
        if device.id != "cpu":
            return _ACCELERATOR_OPERATORS
        rounding = devices.rounding_precisions(device)
        return msgspec.structs.replace(
            _CPU_OPERATORS, offsets_apart=rounding, joined_blocks=rounding
        )

    def fingerprint(self, device: Device) -> str:
        """Return OpenVINO's version, the device's name, and its driver's version."""
        import openvino as ov

        driver = "" if device.id == "cpu" else f" driver {devices.driver(core(), device)}"
        return f"openvino {ov.get_version()} {device.name}{driver}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return a card's own memory, else main memory."""
        if not device.id.startswith("gpu") or not device.usable:
            return hardware.host_memory()
        return devices.gpu_memory(core(), device, hardware.list_adapters())

    def working_memory(self, device: Device) -> WorkingMemory:
        """Return the memory of a network, measured on the processor: for one size, and for any."""
        return WorkingMemory(
            share=1.25,
            session_bytes=20 << 20,
            computes_ahead=True,
            run_share=1.0,
            least_run_bytes=4 << 20,
            groups=self.compilation(device) is None,
            threads=hardware.cpu_cores() if device.id == "cpu" else 0,
            cache_bytes=hardware.core_cache_bytes() if device.id == "cpu" else 0,
        )

    def compilation(self, device: Device) -> Compilation | None:
        """Return None for the processor; other devices have a blob per size, with the weights.

        `compile_model` cannot be interrupted and reports no progress.
        """
        if device.id == "cpu":
            return None
        return Compilation(ShapeSupport.STATIC, carries_weights=True, interruptible=False)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        """Export the network compiled for the profile's optimum; None for the processor."""
        if self.compilation(device) is None:
            return None
        if cancel.is_set():
            raise RunCancelled
        sizes = {name: range_.optimum for name, range_ in profile.dimensions.items()}
        session = OpenVinoSession(core(), graph, device)
        session.prepare(sizes)
        with translated_errors():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / BLOB).write_bytes(session.exported())
        session.close()
        return Artifact(folder, profile)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError, or RunCancelled if cancelled before.

        On a device with static sizes, the artifact's sizes are ready to run; others are compiled at
        their first run. On the processor weights in blocks are packed if `graph.least_sizes` tell
        how; a request to stop then ends the load within a second.
        """
        if cancel.is_set():
            raise RunCancelled
        if device.unusable:
            raise BackendError(device.unusable)
        session = OpenVinoSession(core(), graph, device)
        if self.compilation(device) is None:
            # For one size its memory is planned before the first run: half of that for any size.
            if not graph.one_size:
                session.prepare(None)
                _pack(session, graph, cancel)
        elif artifact is not None:
            sizes = {name: range_.optimum for name, range_ in artifact.profile.dimensions.items()}
            session.take(artifact.folder / BLOB, sizes)
        return session


def _pack(session: OpenVinoSession, graph: Graph, cancel: Cancellation) -> None:
    """Have OpenVINO pack weights in blocks, which it does in the first run, by a run of zeros."""
    if not graph.least_sizes or not session.holds_blocks:
        return
    sizes = graph.least_sizes
    feeds = {
        spec.name: np.zeros([size_of(side, sizes) for side in spec.shape], spec.dtype.numpy)
        for spec in graph.inputs
    }
    try:
        with cancel.calling(session.cancel):
            session.run(feeds)
    except BaseException:
        session.close()
        raise


@cache
def core() -> "ov.Core":
    """Return OpenVINO's entry point; made once, because it loads its plug-ins."""
    # Its model converter is not needed here, and would import a telemetry client.
    sys.modules.setdefault("openvino.tools.ovc", None)  # pyright: ignore[reportArgumentType]
    import openvino as ov

    return ov.Core()
