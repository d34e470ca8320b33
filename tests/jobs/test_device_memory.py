"""Jobs on a device with memory of its own, within a limit that is its true end."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from backends.base import Backend, Device, MemoryInfo, Precision
from backends.cpu import CpuBackend
from backends.torch_device import TorchBackend
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, PrecisionName, SamplerName, ScheduleName, WeightBits
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices
from engine.errors import EngineError
from engine.jobs.attempts import JobResult
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.memory.residency import Residency
from engine.output import Destination
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.flux.test_pictures import CLIP, CONTEXT
from tests.families.listings import ClipSizes, prefixed
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint

MB = 1_000_000
# What the plan leaves to the device's libraries, which the processor has not.
LIBRARIES = 200 << 20


class Card(TorchBackend):
    """Torch's processor device as if it had memory of its own."""

    def probe(self) -> list[Device]:
        return [device for device in super().probe() if device.id == "cpu"]

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(total=64 << 30, free=64 << 30, integrated=False)


class Bench:
    """A runner on some devices, the preferred one first."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *candidates: Candidate) -> None:
        patch.setattr(Devices, "candidates", lambda *_: [*candidates])
        services = JobServices.in_cache(folder / "cache", residency=Residency())
        self.runner, self._folder, self._count = JobRunner(services), folder, 0

    def run(self, request: GenerateRequest, **changes: object) -> JobResult:
        self._count += 1
        saver = PictureSaver(Destination(self._folder / str(self._count)))
        changed = msgspec.structs.replace(request, **changes)
        try:
            return self.runner.run(changed, saver, SilentReporter(), CancelToken())
        finally:
            self.runner.release()


def pixels(result: JobResult) -> np.ndarray:
    """The pictures of a job, one behind the other."""
    found: list[np.ndarray] = []
    for image in result.images:
        with Image.open(image.path) as opened:
            found.append(np.asarray(opened))
    return np.stack(found)


@pytest.fixture(scope="module")
def flux(tmp_path_factory: pytest.TempPathFactory) -> GenerateRequest:
    """A Flux.1 whose transformer has most of the weights, 150 MB."""
    return a_flux(tmp_path_factory.mktemp("flux"), CONTEXT)


@pytest.fixture(scope="module")
def wordy_flux(tmp_path_factory: pytest.TempPathFactory) -> GenerateRequest:
    """One whose T5 has 82 MB of vectors of tokens beside it."""
    return a_flux(tmp_path_factory.mktemp("wordy"), 16 * CONTEXT)


def a_flux(folder: Path, context: int) -> GenerateRequest:
    path = folder / "flux.safetensors"
    sizes = FluxSizes(512, 64, 2048, context, CLIP, 2, 4, 64, guidance=True)
    clip = listings.clip_text(ClipSizes(width=CLIP, layers=1))
    whole = {
        **prefixed("model.diffusion_model.", files.original(sizes)),
        **prefixed("text_encoders.clip_l.transformer.", clip),
        **prefixed("text_encoders.t5xxl.transformer.", listings.t5_encoder(context)),
        **prefixed("vae.", listings.flow_vae()),
    }
    write_arrays(path, files.drawn(whole))
    return a_request(
        path,
        width=96,
        height=64,
        steps=2,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        guidance=3.5,
        precision=PrecisionName.F32,
        weight_bits=WeightBits.ALL,
    )


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    pytest.importorskip("torch")
    return Bench(tmp_path, monkeypatch, _candidate(Card()))


@pytest.fixture
def card_and_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    pytest.importorskip("torch")
    return Bench(tmp_path, monkeypatch, _candidate(Card()), _candidate(CpuBackend()))


def _candidate(backend: Backend) -> Candidate:
    return Candidate(backend, backend.probe()[0])


@pytest.mark.oracle
def test_every_limit_makes_the_same_picture_within_it(card: Bench, flux: GenerateRequest) -> None:
    """The estimate is within 15 % of what tensors took, where weights are most of it."""
    from tests.backends.torch_device.limited_memory import LimitedMemory

    with LimitedMemory() as memory:
        whole = card.run(flux)
    assert whole.plan.placement is WeightPlacement.MEMORY
    assert whole.plan.peak_bytes - LIBRARIES >= 0.95 * memory.peak
    for limit in (120 * MB, 80 * MB, 50 * MB):
        with LimitedMemory(limit) as memory:
            tight = card.run(flux, device_memory_limit_bytes=LIBRARIES + limit)
        assert tight.plan.placement is WeightPlacement.STREAMED
        assert tight.plan.peak_bytes - LIBRARIES == pytest.approx(memory.peak, rel=0.15)
        np.testing.assert_array_equal(pixels(tight), pixels(whole))
        assert tight.warnings == ()


@pytest.mark.oracle
def test_a_table_of_tokens_has_only_rows_on_the_device(
    card: Bench, wordy_flux: GenerateRequest
) -> None:
    from tests.backends.torch_device.limited_memory import LimitedMemory

    whole = card.run(wordy_flux)
    with LimitedMemory(50 * MB) as memory:
        tight = card.run(wordy_flux, device_memory_limit_bytes=LIBRARIES + 50 * MB)
    assert tight.plan.placement is WeightPlacement.STREAMED
    assert tight.plan.peak_bytes - LIBRARIES == pytest.approx(memory.peak, rel=0.15)
    np.testing.assert_array_equal(pixels(tight), pixels(whole))
    assert tight.warnings == ()


@pytest.mark.oracle
@pytest.mark.parametrize(("bits", "precision", "limit"), [("8", "f32", 36), ("16", "bf16", 45)])
def test_weights_in_blocks_and_in_half_precision_are_streamed_as_exactly(
    card: Bench, flux: GenerateRequest, bits: str, precision: str, limit: int
) -> None:
    from tests.backends.torch_device.limited_memory import LimitedMemory

    if Precision(precision) not in _candidate(Card()).device.precisions:
        pytest.skip(f"torch does not compute in {precision} on this processor")
    wanted = msgspec.convert(
        msgspec.to_builtins(flux) | {"weight_bits": bits, "precision": precision},
        GenerateRequest,
    )
    whole = card.run(wanted)
    with LimitedMemory(limit * MB):
        tight = card.run(wanted, device_memory_limit_bytes=LIBRARIES + limit * MB)
    assert whole.plan.placement is not WeightPlacement.STREAMED
    assert tight.plan.placement is WeightPlacement.STREAMED
    np.testing.assert_array_equal(pixels(tight), pixels(whole))


@pytest.mark.oracle
def test_weights_are_rounded_before_they_are_streamed_where_that_is_left_to_the_plan(
    card: Bench, flux: GenerateRequest
) -> None:
    auto = msgspec.structs.replace(flux, weight_bits=WeightBits.AUTO)
    outlooks = [
        card.runner.outlook(
            msgspec.structs.replace(auto, device_memory_limit_bytes=LIBRARIES + limit * MB)
        )
        for limit in (200, 80)
    ]
    assert [(outlook.denoiser_bits, outlook.streams) for outlook in outlooks] == [
        (16, False),
        (8, False),
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("limit", [120, 50])
def test_a_plan_that_was_too_hopeful_is_streamed_before_another_device_goes_on(
    card_and_processor: Bench, flux: GenerateRequest, limit: int
) -> None:
    """The plan believes in 64 GB; the device ends while weights are loaded."""
    from tests.backends.torch_device.limited_memory import LimitedMemory

    whole = card_and_processor.run(flux, count=2)
    with LimitedMemory(limit * MB):
        tight = card_and_processor.run(flux, count=2)
    assert tight.plan.placement is not WeightPlacement.STREAMED
    assert tight.device == whole.device
    np.testing.assert_array_equal(pixels(tight), pixels(whole))
    (remark,) = tight.warnings
    assert remark.code is ErrorCode.OUT_OF_MEMORY
    assert "ran out of memory, so parts of the model were copied there" in remark.message
    assert [image.record.warnings for image in tight.images] == [(remark,)] * 2
    assert whole.warnings == ()


@pytest.mark.oracle
def test_a_device_without_room_for_a_layer_leaves_the_job_to_the_next(
    card_and_processor: Bench, flux: GenerateRequest
) -> None:
    from tests.backends.torch_device.limited_memory import LimitedMemory

    with LimitedMemory(20 * MB):
        made = card_and_processor.run(flux)
    assert made.device.backend == CpuBackend.name
    (remark,) = made.warnings
    assert "goes on with what is left" in remark.message


@pytest.mark.oracle
def test_each_memory_has_its_own_limit_and_is_named(card: Bench, flux: GenerateRequest) -> None:
    with pytest.raises(EngineError, match=r"0\.24 GB of memory; 0\.21 GB may be used"):
        card.run(flux, device_memory_limit_bytes=LIBRARIES)
    with pytest.raises(EngineError, match="of this computer's memory, beside that of"):
        card.run(flux, memory_limit_bytes=LIBRARIES - 1)
    # The host needs little more than its libraries: all weights are read from the file.
    assert card.run(flux, memory_limit_bytes=LIBRARIES + MB).images


@pytest.mark.oracle
def test_the_next_pictures_plan_says_that_weights_are_streamed(
    card: Bench, flux: GenerateRequest
) -> None:
    assert not card.runner.outlook(flux).streams
    limited = msgspec.structs.replace(flux, device_memory_limit_bytes=LIBRARIES + 80 * MB)
    outlook = card.runner.outlook(limited)
    assert outlook.streams
    assert outlook.budget_bytes == LIBRARIES + 80 * MB


def test_a_device_without_memory_of_its_own_ignores_the_limit_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, _candidate(CpuBackend()))
    request = a_request(write_checkpoint(tmp_path / "tiny"))
    plain = bench.run(request)
    limited = bench.run(request, device_memory_limit_bytes=1)
    assert plain.warnings == ()
    (remark,) = limited.warnings
    assert "no memory of its own" in remark.message
    assert limited.images[0].record.warnings == limited.warnings
    assert limited.plan.placement is plain.plan.placement
    np.testing.assert_array_equal(pixels(limited), pixels(plain))
