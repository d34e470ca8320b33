"""An enlarged picture is not lost: its disk is full, its source vanished, or a device failed."""

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import BackendError, Cancellation, Device, MemoryInfo
from backends.null import Script
from engine.api.picture_names import PictureFacts
from engine.api.remedies import MoveKept
from engine.api.saving import Saving
from engine.api.second_passes import Resampling
from engine.api.sentences import sentence
from engine.api.upscaling import UpscaleRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.cancel import CancelToken
from engine.compile.cache import NetworkCache
from engine.devices.choice import Candidate, Devices
from engine.devices.crash_attribution import CrashMarkers
from engine.errors import EngineError
from engine.jobs import upscaling
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.jobs.upscale_run import UpscaleRunner, UpscaleTarget
from engine.jobs.upscaling import UpscaledImage, UpscaleJob, UpscaleListener, upscaled_files
from engine.metadata.texts import TextChunk
from engine.output import Destination
from engine.output.writer import write_picture
from engine.pipeline.forecast import PhaseEstimate
from engine.upscalers.upscale import Enlarger, Pixels, Wanted, upscaled
from tests.pipeline.counting import CountingBackend
from tests.upscalers.small import file_of


@pytest.fixture
def job(tmp_path: Path) -> UpscaleJob:
    """A small picture, twice as large by Lanczos into the folder `out`."""
    source = tmp_path / "cat.png"
    Image.new("RGB", (6, 4), "teal").save(source)
    wanted = Wanted(scale=2, resampling=Resampling.LANCZOS)
    return UpscaleJob((source,), wanted, Destination(tmp_path / "out"), Saving())


def run(job: UpscaleJob, folder: Path) -> list[Path]:
    listener = UpscaleListener(lambda _done, _total: None, lambda _warning: None, CancelToken())
    images = upscaled_files(job, [], NetworkCache(folder / "cache"), listener)
    return [image.path for image in images]


def test_a_picture_that_finds_the_disk_full_is_kept_elsewhere_and_the_error_says_where(
    job: UpscaleJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(
        pixels: NDArray[np.uint8],
        target: Destination,
        facts: PictureFacts,
        *,
        chunks: Sequence[TextChunk],
        saving: Saving,
    ) -> Path:
        if target.folder == tmp_path / "out":
            raise EngineError(ErrorCode.DISK_FULL, sentence("The disk is full."))
        return write_picture(pixels, target, facts, chunks=chunks, saving=saving)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(upscaling, "write_picture", full)
    with pytest.raises(EngineError, match="full") as caught:
        run(job, tmp_path)
    assert caught.value.code is ErrorCode.DISK_FULL
    (kept,) = (tmp_path / "safelight-rescued").glob("*.png")
    assert caught.value.remedies == (MoveKept(path=str(kept)),)
    with Image.open(kept) as image:
        assert image.size == (12, 8)


@pytest.mark.parametrize("stem", ["c" * 251, "\u732b" * 83])
def test_a_picture_with_the_longest_name_is_saved_under_a_name_of_that_length(
    job: UpscaleJob, tmp_path: Path, stem: str
) -> None:
    source = job.pictures[0].rename(tmp_path / f"{stem}.png")
    paths = [run(msgspec.structs.replace(job, pictures=(source,)), tmp_path)[0] for _ in range(2)]
    for path, ending in zip(paths, ("-upscaled.png", "-1.png"), strict=True):
        assert path.name.startswith(stem[:70])
        assert path.name.endswith(ending)
        assert 250 <= len(path.name.encode()) <= 255


def test_a_source_that_vanished_is_named(job: UpscaleJob, tmp_path: Path) -> None:
    job.pictures[0].unlink()
    with pytest.raises(EngineError, match="not there any more") as caught:
        run(job, tmp_path)
    assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert not list((tmp_path / "out").glob("*"))


def test_a_source_that_vanishes_during_the_work_loses_nothing(
    job: UpscaleJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def enlarge_and_delete(pixels: Pixels, wanted: Wanted, enlarger: Enlarger | None) -> Pixels:
        job.pictures[0].unlink()
        return upscaled(pixels, wanted, enlarger)

    monkeypatch.setattr(upscaling, "upscaled", enlarge_and_delete)
    (path,) = run(job, tmp_path)
    with Image.open(path) as image:
        assert image.size == (12, 8)


class Card(CountingBackend):
    """A card with memory of its own, of a backend of any name."""

    def candidate(self, name: str) -> Candidate:
        device = msgspec.structs.replace(self.probe()[0], backend=name, name=f"device of {name}")
        return Candidate(self, device)

    def memory(self, device: Device) -> MemoryInfo:
        return msgspec.structs.replace(super().memory(device), integrated=False)


NAME = "Real-ESRGAN Compact"
GONE = Script(run_error=BackendError("the device was removed"))
FULL = Script(run_error=BackendError("it is full", out_of_memory=True))


@pytest.mark.parametrize(
    ("script", "failures"),
    [(GONE, [("device of one", "the device was removed")]), (FULL, [])],
    ids=["gone", "full"],
)
def test_a_device_that_fails_is_remembered_and_a_crash_is_blamed_on_the_one_at_work(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: Script,
    failures: list[tuple[str, str]],
) -> None:
    first, second = Card({f"upscaler {NAME}": script}), Card()
    found = [first.candidate("one"), second.candidate("two")]
    noted: list[tuple[str, str]] = []
    blamed: list[str] = []

    @contextmanager
    def running(_markers: CrashMarkers, device: Device, _cancel: Cancellation) -> Generator[None]:
        blamed.append(device.name)
        yield
        blamed.append("nothing")

    def candidates(*_: object) -> list[Candidate]:
        return found

    def note(_devices: Devices, device: Device, reason: str) -> None:
        noted.append((device.name, reason))

    monkeypatch.setattr(Devices, "candidates", candidates)
    monkeypatch.setattr(Devices, "note_failure", note)
    monkeypatch.setattr(CrashMarkers, "running", running)
    source = tmp_path / "cat.png"
    Image.new("RGB", (6, 4), "teal").save(source)
    request = UpscaleRequest(
        source=str(source), upscaler=str(file_of(tmp_path, NAME)), backend="auto"
    )
    runner = UpscaleRunner(JobRunner(JobServices.in_cache(tmp_path / "cache")))
    target = UpscaleTarget(tmp_path / "out", Saving())
    result = runner.run(request, target, Silent(), CancelToken())
    assert result.device == "device of two"
    assert noted == failures
    assert blamed == ["device of one", "device of two", "nothing"]


class Silent:
    """A reporter that tells nobody."""

    def expect(self, estimate: PhaseEstimate) -> None: ...

    def phase(self, phase: Phase) -> None: ...

    def progress(self, done: int, total: int) -> None: ...

    def image_upscaled(self, image: UpscaledImage) -> None: ...

    def warning(self, warning: ErrorInfo) -> None: ...
