"""Runs one job from request to saved pictures, on the best device that works."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from backends.base import Cancellation, Device
from engine.api.record import Timings
from engine.api.remedies import ChooseCheckpoint
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.cancel import CancelToken
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.checkpoints.known_files import KnownFiles
from engine.compile.cache import NetworkCache
from engine.compile.compiler import Compiler
from engine.compile.estimates import Estimates
from engine.devices.choice import Candidate, Devices
from engine.devices.crash_attribution import CrashMarkers
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.families.base import IdentifiedCheckpoint, Parts
from engine.families.identify import identify, require_complete, supply
from engine.families.parts_index import Shelf
from engine.families.refiner_fit import with_refiner
from engine.jobs.background_hash import BackgroundHash
from engine.jobs.device_run import DeviceRun
from engine.jobs.fallback import (
    CURABLE,
    failure_of,
    fitting,
    goes_on,
    taken_over,
    with_size_and_phase,
)
from engine.jobs.job_estimate import Prospect
from engine.jobs.preparation import Preparations
from engine.jobs.reporting import JobReporter
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.tiny_preview import (
    PREVIEW_BYTES,
    Previewing,
    TinyPreview,
    loader,
    tiny_decoder_for,
)
from engine.memory.plan import MemoryPlan
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency
from engine.pipeline.generate import Undecoded
from engine.pipeline.resolve import resolve
from engine.pipeline.stages import Stopwatch

# How often a job goes on after a copy of weights was damaged: a failing disk ends it.
_MOST_DAMAGES = 3


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a finished job made, where, and how long each phase took."""

    images: tuple[SavedImage, ...]
    family: str
    device: Device
    timings: Timings
    warnings: tuple[ErrorInfo, ...]
    plan: MemoryPlan
    # Why this device.
    choice: str = ""


@dataclass(frozen=True, slots=True)
class _Work:
    """A job while it goes from device to device, with what was made and said so far."""

    request: GenerateRequest
    checkpoint: IdentifiedCheckpoint
    saver: PictureSaver
    reporter: JobReporter
    cancel: Cancellation
    stopwatch: Stopwatch
    # What previews of it hold.
    preview_bytes: int
    images: list[SavedImage] = field(default_factory=list[SavedImage])
    warnings: list[ErrorInfo] = field(default_factory=list[ErrorInfo])
    undecoded: Undecoded = field(default_factory=Undecoded)


class JobRunner:
    """Runs jobs one after another; `cache` is the folder for what can be made again.

    `wildcards` is the one of lists of words that prompts name, `models` that of checkpoints, where
    files are found that hold what one lacks. With a `residency` networks stay
    loaded between jobs where there is room; with `hashes` whole checkpoints are hashed meanwhile.
    One that `prepares` compiles in the background until it is closed.
    """

    def __init__(
        self,
        cache: Path,
        wildcards: Path | None = None,
        residency: Residency | None = None,
        hashes: BackgroundHash | None = None,
        devices: Devices | None = None,
        *,
        models: Path | None = None,
        prepares: bool = False,
    ) -> None:
        self.known_files = known_files(cache)
        self.models = models
        self.shelf = Shelf(models, self.known_files) if models else None
        self.estimates = Estimates(cache / "durations.json")
        self.devices = devices or Devices(cache)
        self.crash_markers = CrashMarkers(cache / "at-work")
        # How often a job has begun or ended: odd while one runs.
        self.activity = 0
        self.hashes = hashes
        self.cache = NetworkCache(cache)
        self.working_copies = self.cache.working_copies
        self.wildcards = wildcards
        self.residency = residency
        self.preparations = self._preparations() if prepares else None

    def plan(self, request: GenerateRequest) -> tuple[Device, MemoryPlan]:
        """What a request would need on the device it would run on first. Raises EngineError."""
        checkpoint = self._checkpoint(request)
        first = self._candidates(request, CancelToken())[0]
        preview_bytes = PREVIEW_BYTES if self._tiny_decoder(checkpoint) else 0
        run = self._device_run(first, request, checkpoint, Stopwatch(), preview_bytes)
        return first.device, run.plan

    def close(self) -> None:
        """Stop what goes on beside jobs."""
        self.working_copies.abandon()
        if self.preparations is not None:
            self.preparations.close()

    def release(self) -> None:
        """Free what is kept between jobs; what a job uses now stays."""
        if self.residency is not None:
            self.residency.release()
        self.working_copies.abandon()
        return_free_memory()

    def run(
        self,
        request: GenerateRequest,
        saver: PictureSaver,
        reporter: JobReporter,
        cancel: Cancellation,
    ) -> JobResult:
        """Make and save every picture of the request, on the first device that can.

        Raises EngineError; Cancelled if asked to stop. Pictures saved before stay saved.
        """
        self.activity += 1
        try:
            with self.working_copies.holding():
                return self._run(request, saver, reporter, cancel)
        finally:
            self.activity += 1

    def _run(
        self,
        request: GenerateRequest,
        saver: PictureSaver,
        reporter: JobReporter,
        cancel: Cancellation,
    ) -> JobResult:
        stopwatch = Stopwatch()
        reporter.phase(Phase.LOAD)
        with stopwatch.measuring(Phase.LOAD):
            saver.require_writable()
            checkpoint = self._with_room(lambda: self._checkpoint(request))
            if self.hashes is not None:
                self.hashes.want(checkpoint)
                if checkpoint.refiner is not None:
                    self.hashes.want(checkpoint.refiner)
            candidates = self._candidates(request, cancel)
        if cancel.is_set():
            raise Cancelled
        drawn = resolve(request, checkpoint, candidates[0].device)
        request = msgspec.structs.replace(request, seed=drawn.seed, seed_options=drawn.seed_options)
        tiny = self._tiny_decoder(checkpoint) if reporter.shows_previews else None
        with self._previewing(reporter, checkpoint, candidates[0], tiny) as told:
            preview_bytes = PREVIEW_BYTES if tiny else 0
            work = _Work(request, checkpoint, saver, told, cancel, stopwatch, preview_bytes)
            return self._on_first_that_can(work, self._ordered(work, candidates))

    @contextmanager
    def _previewing(
        self,
        reporter: JobReporter,
        checkpoint: IdentifiedCheckpoint,
        candidate: Candidate,
        tiny: Parts | None,
    ) -> Generator[JobReporter]:
        """The reporter, with previews by a tiny VAE within the block where there is one."""
        if tiny is None:
            yield reporter
            return
        load = loader(tiny, candidate, self.working_copies)
        with closing(TinyPreview(load, reporter.show)) as previews:
            yield Previewing(reporter, previews, checkpoint)

    def _tiny_decoder(self, checkpoint: IdentifiedCheckpoint) -> Parts | None:
        return tiny_decoder_for(checkpoint, self.models, self.known_files.read_index)

    def _ordered(self, work: _Work, candidates: list[Candidate]) -> list[Candidate]:
        """As they are preferred, but that a picture need not wait for a compiler."""
        if self.preparations is None:
            return candidates

        def prospect(candidate: Candidate) -> Prospect:
            run = self._work_on(candidate, work)
            return run.prospect(work.reporter, work.cancel)

        return self.preparations.order(candidates, prospect, lambda said: self._tell(said, work))

    def _on_first_that_can(self, work: _Work, candidates: list[Candidate]) -> JobResult:
        """Where one device fails the next goes on: same seeds, remaining pictures.

        What failed where another did not is remembered, but for memory that ran out.
        """
        failed: list[tuple[Candidate, EngineError]] = []
        for candidate, following in zip(candidates, [*candidates[1:], None], strict=True):
            current = taken_over(candidate, failed[-1][0]) if failed else candidate
            try:
                result = self._on_device(current, work)
            except EngineError as error:
                if error.code not in CURABLE or following is None:
                    raise
                failed.append((candidate, error))
                self._tell(goes_on(error, candidate, following), work)
                # What is resident on a device that is gone is gone, too.
                self.release()
            else:
                for loser, error in failed:
                    if error.code is ErrorCode.BACKEND_FAILED:
                        self.devices.note_failure(loser.device, failure_of(error))
                return result
        raise AssertionError("candidates() returns at least one device")

    def _on_device(self, candidate: Candidate, work: _Work) -> JobResult:
        """Make what is left; once more what was made of weights whose copy was damaged."""
        for _ in range(_MOST_DAMAGES):
            try:
                return self._made_on(candidate, work)
            except EngineError as error:
                if error.code is not ErrorCode.WORKING_COPY_DAMAGED:
                    raise
                work.undecoded.forget()
                self._tell(error.info, work)
        raise EngineError(
            ErrorCode.WORKING_COPY_DAMAGED,
            "The copies of the weights in the cache are damaged whenever they are made.",
            "The disk or the memory of this computer may be failing.",
        )

    def _made_on(self, candidate: Candidate, work: _Work) -> JobResult:
        run = self._work_on(candidate, work)
        made = len(work.images)
        try:
            with host_memory_errors(), self._watched(run, work.cancel):
                for image in run.saved_pictures(
                    made, work.saver, work.reporter, work.cancel, work.warnings
                ):
                    work.images.append(image)
                    work.reporter.image_saved(image)
        except EngineError as error:
            if error.code not in (ErrorCode.CANCELLED, ErrorCode.WORKING_COPY_DAMAGED):
                # Numbers that are broken may have been so in the file.
                self.working_copies.require_sound(work.cancel)
            if error.code is not ErrorCode.OUT_OF_MEMORY:
                raise
            where = (work.stopwatch.latest, candidate.device.name)
            raise with_size_and_phase(error, run.resolved, *where) from error
        return JobResult(
            images=tuple(work.images),
            family=work.checkpoint.family,
            device=candidate.device,
            timings=work.stopwatch.timings(),
            warnings=tuple(work.warnings),
            plan=run.plan,
            choice=candidate.choice,
        )

    def _watched(self, run: DeviceRun, cancel: Cancellation) -> AbstractContextManager[None]:
        """Should this process end in the block, that is held against the device."""
        if run.compiler.memory().integrated:
            return nullcontext()
        return self.crash_markers.running(run.compiler.device, cancel)

    def _tell(self, warning: ErrorInfo, work: _Work) -> None:
        work.warnings.append(warning)
        work.reporter.warning(warning)

    def _preparations(self) -> Preparations:
        return Preparations(
            self.estimates,
            self.working_copies.holding,
            self.devices.note_failure,
            lambda: self.activity % 2 == 1,
        )

    def _candidates(self, request: GenerateRequest, cancel: Cancellation) -> list[Candidate]:
        for device in self.crash_markers.crashed():
            self.devices.note_failure(device, "the engine ended while it was at work")
        return fitting(self.devices.candidates(request.backend, cancel), request.precision)

    def _checkpoint(self, request: GenerateRequest) -> IdentifiedCheckpoint:
        return load_checkpoint(request, self.known_files.read_index, self.shelf)

    def _with_room(self, load: Callable[[], IdentifiedCheckpoint]) -> IdentifiedCheckpoint:
        """What `load` gives; tried again with everything released where memory ran out."""
        try:
            return load()
        except MemoryError:
            self.release()
        with host_memory_errors():
            return load()

    def _work_on(self, candidate: Candidate, work: _Work) -> DeviceRun:
        given = work.request, work.checkpoint, work.stopwatch, work.preview_bytes
        return self._device_run(candidate, *given, work.undecoded)

    def _device_run(
        self,
        candidate: Candidate,
        request: GenerateRequest,
        checkpoint: IdentifiedCheckpoint,
        stopwatch: Stopwatch,
        preview_bytes: int,
        undecoded: Undecoded | None = None,
    ) -> DeviceRun:
        caches = self.working_copies, self.cache.artifacts
        compiler = Compiler(candidate.backend, candidate.device, *caches)
        kept = self.residency, self.known_files, self.estimates, self.release
        given = request, checkpoint, compiler, stopwatch, self.wildcards, *kept
        return DeviceRun(*given, candidate.choice, preview_bytes=preview_bytes, undecoded=undecoded)


def known_files(cache: Path) -> KnownFiles:
    """What is remembered of files in the cache."""
    return KnownFiles(cache / "files")


def load_checkpoint(
    request: GenerateRequest, read: ReadIndex = read_index, shelf: Shelf | None = None
) -> IdentifiedCheckpoint:
    """The request's checkpoint with its supplied components, complete.

    Raises EngineError; where something is missing it says which files of the `shelf` hold it.
    """
    if request.checkpoint is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_FOUND,
            "No model is chosen.",
            remedies=(ChooseCheckpoint(),),
        )
    found = identify(Path(request.checkpoint), read, request.override)
    checkpoint = supply(found, request.components, read)
    require_complete(checkpoint, shelf.gaps(checkpoint) if shelf else ())
    refiner = request.refiner and request.refiner.checkpoint
    return with_refiner(checkpoint, identify(Path(refiner), read)) if refiner else checkpoint
