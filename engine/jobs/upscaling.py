"""Pictures in files made larger and saved; if a device fails, the next one goes on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path

import msgspec

from backends.base import Cancellation, Device
from engine.api.picture_names import PictureFacts
from engine.api.record import UpscaleReport
from engine.api.saving import Saving
from engine.api.values import ErrorCode, ErrorInfo
from engine.awake_clock import awake_seconds
from engine.compile.cache import NetworkCache
from engine.compile.compiler import Compiler
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.jobs.fallback import CURABLE, failure_of, takeover_warning
from engine.jobs.saving import PictureSaver, rescued
from engine.metadata.pictures import read_text_chunks
from engine.metadata.texts import TextChunk
from engine.metadata.upscales import with_upscale
from engine.output import Destination, write_picture
from engine.output.names import name_after
from engine.upscalers.pictures import read_pixels
from engine.upscalers.reading import Upscaler
from engine.upscalers.running import Progress, Setting, UpscalerRun
from engine.upscalers.tiles import Floats
from engine.upscalers.upscale import Enlarger, Pixels, Shape, Wanted, upscaled


class UpscaleJob(msgspec.Struct, frozen=True):
    """Pictures to enlarge and where they go; without `upscaler` they are only resampled.

    `tile` is the longest side of a tile in pixels; None for as much as memory allows.
    """

    pictures: tuple[Path, ...]
    wanted: Wanted
    target: Destination
    saving: Saving
    upscaler: Upscaler | None = None
    tile: int | None = None


class UpscaledImage(msgspec.Struct, frozen=True):
    """A picture that is durably on disk, and the report in its file."""

    source: Path
    path: Path
    report: UpscaleReport


def _untimed(_run: UpscalerRun, _pixels: int, _seconds: float) -> None:
    """Forget how long a picture took."""


class UpscaleListener(msgspec.Struct, frozen=True):
    """The functions that a job tells of progress and warnings, and the request to stop it.

    `timed` is told the seconds that a network took over so many pixels, its loading left out;
    `note_failure` is told a device that failed where another one went on. Each device works within
    a block of `at_work`.
    """

    progress: Progress
    warn: Callable[[ErrorInfo], None]
    cancel: Cancellation
    timed: Callable[[UpscalerRun, int, float], None] = _untimed
    note_failure: Callable[[Device, str], None] = lambda _device, _reason: None
    at_work: Callable[[Candidate], AbstractContextManager[None]] = lambda _candidate: nullcontext()


def upscaled_files(
    job: UpscaleJob,
    candidates: Sequence[Candidate],
    cache: NetworkCache,
    listener: UpscaleListener,
) -> Iterator[UpscaledImage]:
    """Yield each picture once it is saved; its texts are those of the picture before, and more.

    `candidates` are needed with an upscaler alone. A picture without a name of its own is called as
    the one before, with "-upscaled". Raises EngineError and Cancelled.
    """
    PictureSaver(job.target, job.saving).require_writable()
    if job.upscaler is None:
        for source in job.pictures:
            original = _read(source)
            yield _saved(job, original, upscaled(original.pixels, job.wanted, None), None)
        return
    with closing(_OnDevices(job, job.upscaler, candidates, cache, listener)) as devices:
        scale = job.upscaler.network.scale
        enlarger = Enlarger(devices.enlarge, scale, devices.expect)
        for source in job.pictures:
            original = _read(source)
            pixels = upscaled(original.pixels, job.wanted, enlarger)
            yield _saved(job, original, pixels, devices.candidate)


class _Original(msgspec.Struct, frozen=True):
    """A picture to enlarge, read whole: its file may vanish in the meantime."""

    path: Path
    pixels: Pixels
    texts: tuple[TextChunk, ...]


def _read(source: Path) -> _Original:
    return _Original(source, read_pixels(source), read_text_chunks(source))


def _saved(
    job: UpscaleJob, original: _Original, pixels: Pixels, candidate: Candidate | None
) -> UpscaledImage:
    """Save a picture with the texts of the one before and a report."""
    source = original.path
    height, width = pixels.shape[:2]
    resampling, upscaler = job.wanted.resampling.value, job.upscaler
    report = UpscaleReport(
        name=upscaler.name if upscaler else resampling,
        width=width,
        height=height,
        resampling=resampling,
        path=str(upscaler.path) if upscaler else None,
        digest=upscaler.digest if upscaler else None,
        device=candidate.device.name if candidate else None,
        source=str(source.absolute()),
    )
    name = job.target.name or name_after(source.name, f"-upscaled{job.saving.format.suffix}")
    chunks = with_upscale(original.texts, report)

    def write(target: Destination) -> Path:
        facts = PictureFacts(seed=0, width=width, height=height)
        target = msgspec.structs.replace(target, name=name)
        return write_picture(pixels, target, facts, chunks=chunks, saving=job.saving)

    try:
        return UpscaledImage(source, write(job.target), report)
    except EngineError as error:
        raise rescued(error, write) from error


class _OnDevices:
    """An upscaler on the first of the devices that can run it."""

    def __init__(
        self,
        job: UpscaleJob,
        upscaler: Upscaler,
        candidates: Sequence[Candidate],
        cache: NetworkCache,
        listener: UpscaleListener,
    ) -> None:
        self._job, self._upscaler, self._cache, self._listener = job, upscaler, cache, listener
        self.candidate, *self._others = candidates
        self._run: UpscalerRun | None = None
        # The devices that failed since the last success, and why.
        self._failed: list[tuple[Device, EngineError]] = []
        # The planes that are still to be enlarged, and the tiles that are done.
        self._ahead: tuple[Shape, ...] = ()
        self._done = 0

    def expect(self, shapes: tuple[Shape, ...]) -> None:
        """Take the planes of the picture that comes next."""
        self._ahead, self._done = shapes, 0

    def enlarge(self, planes: Floats) -> Floats:
        """Enlarge planes; if the device fails and there is another, that one goes on."""
        while True:
            try:
                with self._listener.at_work(self.candidate):
                    run = self._run = self._run or UpscalerRun(self._upscaler, self._setting())
                    run.load()
                    start = awake_seconds()
                    result = run.enlarge(planes)
            except EngineError as error:
                if error.code not in CURABLE or not self._others:
                    raise
                following = self._others.pop(0)
                self._listener.warn(takeover_warning(error, self.candidate, following))
                self.close()
                self._failed.append((self.candidate.device, error))
                self.candidate = following
            else:
                self._note_failures()
                pixels = len(planes) * planes.shape[1] * planes.shape[2]
                self._listener.timed(run, pixels, awake_seconds() - start)
                self._done += run.tiles_of(planes.shape)
                self._ahead = self._ahead[1:]
                return result

    def _note_failures(self) -> None:
        """Tell which devices failed, now that another one went on; some only lacked memory."""
        for device, error in self._failed:
            if error.code is ErrorCode.BACKEND_FAILED:
                self._listener.note_failure(device, failure_of(error))
        self._failed.clear()

    def close(self) -> None:
        """Free the network."""
        if self._run is not None:
            self._run.close()
            self._run = None

    def _setting(self) -> Setting:
        compiler = Compiler(
            self.candidate.backend,
            self.candidate.device,
            self._cache.working_copies,
            self._cache.artifacts,
        )
        return Setting(compiler, self._listener.cancel, self._tell, self._job.tile)

    def _tell(self, done: int, total: int) -> None:
        """Tell how many tiles of the picture are done, and how many it has in all runs."""
        run = self._run
        later = sum(map(run.tiles_of, self._ahead[1:])) if run is not None else 0
        self._listener.progress(self._done + done, self._done + total + later)
