"""The runtime and the precision that a job takes: for weights in blocks, where room is short."""

from pathlib import Path

import msgspec
import pytest

from backends.base import Device, DType, MemoryInfo, Precision, WorkingMemory
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend
from engine.api.request import GenerateRequest
from engine.api.values import PrecisionName, WeightBits
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices
from engine.jobs.job_estimate import JobEstimate
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.output import Destination
from tests.families.flux.test_gguf import parts_beside, write_pair
from tests.pipeline.jobs import a_request

_PLENTY = 32 << 30
INT8 = Precision.INT8
# The same for both runtimes, as networks are so small that weights would not decide.
_BESIDE_WEIGHTS = WorkingMemory(empties=True)


class RoomyOpenVino(OpenVinoBackend):
    """OpenVINO beside other programs, which leave `free` bytes."""

    free = _PLENTY

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(_PLENTY, self.free, integrated=True)

    def working_memory(self, device: Device) -> WorkingMemory:
        return _BESIDE_WEIGHTS


class RoomyCpu(CpuBackend):
    """ONNX Runtime beside the same programs."""

    free = _PLENTY

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(_PLENTY, self.free, integrated=True)

    def working_memory(self, device: Device) -> WorkingMemory:
        return _BESIDE_WEIGHTS


class Bench:
    """A picture of weights in blocks and one of float32, planned where OpenVINO is preferred."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocks, encoder, whole = write_pair(folder, DType.Q8_0)
        self.request = a_request(
            self.blocks, components=parts_beside(folder, encoder), width=96, height=64, steps=1
        )
        self.request = msgspec.structs.replace(self.request, backend="auto")
        self.wide = msgspec.structs.replace(
            a_request(whole, width=96, height=64, steps=1), backend="auto"
        )
        self.folder, self.openvino, self.onnx = folder, RoomyOpenVino(), RoomyCpu()
        device = next(device for device in self.openvino.probe() if device.id == "cpu")
        device = msgspec.structs.replace(device, precisions=(Precision.BF16, Precision.F32))
        times = {Precision.BF16: 200.0, Precision.F32: 140.0}
        self.first: Candidate = Candidate(self.openvino, device, 200, times=times)
        self.second: Candidate = Candidate(self.onnx, self.onnx.probe()[0], 210)

        def candidates(*_: object) -> list[Candidate]:
            return [self.first, self.second]

        monkeypatch.setattr(Devices, "candidates", candidates)
        self.runner = JobRunner(JobServices.in_cache(folder / "cache"))

    def planned(self, request: GenerateRequest, **changes: object) -> JobEstimate:
        return self.runner.estimate(msgspec.structs.replace(request, **changes))

    def leave(self, free: int) -> None:
        self.openvino.free = self.onnx.free = free

    def put_on_cards(self, first: str, second: str) -> None:
        """Have the runtimes list cards of these names in place of the processor."""
        self.first, self.second = _on_card(self.first, first), _on_card(self.second, second)

    def tight(self, request: GenerateRequest) -> int:
        """Free bytes with which the picture fits ONNX Runtime, and not OpenVINO."""
        everything = [self.first, self.second]
        peaks: list[int] = []
        self.leave(1)
        for candidate in everything:
            self.first = self.second = candidate
            peaks.append(self.planned(request).memory.peak_bytes)
        self.first, self.second = everything
        self.leave(_PLENTY)
        share = self.planned(request).memory.budget_bytes / _PLENTY
        most, least = peaks
        assert least < most
        return int((most + least) / 2 / share)


def _on_card(candidate: Candidate, name: str) -> Candidate:
    return msgspec.structs.replace(
        candidate, device=msgspec.structs.replace(candidate.device, id="0", name=name)
    )


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    pytest.importorskip("openvino")
    return Bench(tmp_path, monkeypatch)


def test_blocks_are_computed_exactly_where_that_takes_no_longer(bench: Bench) -> None:
    """Numbers in no blocks would take twice the memory."""
    assert bench.planned(bench.request).precisions == (Precision.F32,)
    assert bench.planned(bench.wide).precisions[0] is Precision.BF16
    rounded = bench.planned(bench.wide, weight_bits=WeightBits.EIGHT)
    assert rounded.precisions == (Precision.F32,)
    asked = bench.planned(bench.request, precision=PrecisionName.BF16)
    assert asked.precisions[0] is Precision.BF16
    bench.first = msgspec.structs.replace(
        bench.first, times={Precision.BF16: 200, Precision.F32: 201}
    )
    assert bench.planned(bench.request).precisions[0] is Precision.BF16


def test_blocks_are_computed_in_8_bits_where_that_takes_no_longer(bench: Bench) -> None:
    device = msgspec.structs.replace(
        bench.first.device, precisions=(*bench.first.device.precisions, INT8)
    )
    times = {Precision.BF16: 200.0, Precision.F32: 140.0, INT8: 150.0}
    bench.first = msgspec.structs.replace(bench.first, device=device, times=times)
    assert bench.planned(bench.request).precisions == (INT8, Precision.F32)
    assert bench.planned(bench.wide).precisions[0] is Precision.BF16
    asked = bench.planned(bench.request, precision=PrecisionName.F32)
    assert asked.precisions == (Precision.F32,)
    bench.first = msgspec.structs.replace(bench.first, times={**times, INT8: 201})
    assert bench.planned(bench.request).precisions == (Precision.F32,)


def test_blocks_are_computed_in_8_bits_before_there_is_a_trial(bench: Bench) -> None:
    """In bfloat16 the same products are rounded, and everything else besides."""
    device = msgspec.structs.replace(
        bench.first.device, precisions=(*bench.first.device.precisions, INT8)
    )
    bench.first = Candidate(bench.openvino, device)
    named = {"backend": "intel_openvino"}
    assert bench.planned(bench.request, **named).precisions == (INT8, Precision.F32)
    assert bench.planned(bench.wide, **named).precisions[0] is Precision.BF16
    bench.first = msgspec.structs.replace(
        bench.first, device=msgspec.structs.replace(device, precisions=(Precision.BF16,))
    )
    assert bench.planned(bench.request, **named).precisions == (Precision.BF16,)


def test_runtimes_are_compared_in_the_precision_that_blocks_are_computed_in(bench: Bench) -> None:
    """OpenVINO, which is slower than ONNX Runtime in bfloat16 here, is not in float32."""
    openvino = bench.first
    bench.first = Candidate(bench.onnx, bench.onnx.probe()[0], 150, times={Precision.F32: 150})
    bench.second = msgspec.structs.replace(openvino, choice="about as fast as ONNX Runtime here")
    found = bench.planned(bench.request)
    assert found.compiler.device.backend == "intel_openvino"
    assert bench.planned(bench.wide).compiler.device.backend == "cpu"
    asked = bench.planned(bench.request, precision=PrecisionName.BF16)
    assert asked.compiler.device.backend == "intel_openvino"
    # A named backend's devices keep their order.
    assert bench.planned(bench.request, backend="cpu").compiler.device.backend == "cpu"
    bench.second = msgspec.structs.replace(
        openvino, times={Precision.BF16: 200, Precision.F32: 160}
    )
    assert bench.planned(bench.request).compiler.device.backend == "cpu"


def test_a_runtime_that_reads_blocks_in_place_takes_over_where_memory_is_scarce(
    bench: Bench,
) -> None:
    assert bench.planned(bench.request).compiler.device.backend == "intel_openvino"
    bench.leave(bench.tight(bench.request))
    found = bench.planned(bench.request)
    assert (found.compiler.device.backend, found.memory.fits) == ("cpu", True)
    saver = PictureSaver(Destination(bench.folder / "out"))
    result = bench.runner.run(bench.request, saver, SilentReporter(), CancelToken())
    assert (result.device.backend, result.warnings) == ("cpu", ())
    assert result.choice == "OpenVINO lacks the memory for this job"


def test_the_preferred_runtime_stays_where_none_has_the_room(bench: Bench) -> None:
    bench.leave(1)
    assert bench.planned(bench.request).compiler.device.backend == "intel_openvino"


def test_weights_in_no_blocks_stay_on_the_preferred_runtime(bench: Bench) -> None:
    exact = {"precision": PrecisionName.F32, "weight_bits": WeightBits.ALL}
    wide = msgspec.structs.replace(bench.wide, **exact)
    bench.leave(bench.tight(wide))
    assert bench.planned(wide).compiler.device.backend == "intel_openvino"


def test_a_runtime_of_the_same_card_takes_over_where_the_preferred_lacks_the_memory(
    bench: Bench,
) -> None:
    """PyTorch does so for CUDA by streaming weights, whether they are in blocks or not."""
    exact = {"precision": PrecisionName.F32, "weight_bits": WeightBits.ALL}
    wide = msgspec.structs.replace(bench.wide, **exact)
    bench.leave(bench.tight(wide))
    bench.put_on_cards("A card", "A card")
    found = bench.planned(wide)
    assert (found.compiler.device.backend, found.memory.fits) == ("cpu", True)


def test_another_card_does_not_take_over_where_the_preferred_lacks_the_memory(
    bench: Bench,
) -> None:
    bench.leave(bench.tight(bench.request))
    bench.put_on_cards("A card", "Another card")
    assert bench.planned(bench.request).compiler.device.backend == "intel_openvino"
