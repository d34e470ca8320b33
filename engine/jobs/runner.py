"""Runs one job from request to saved pictures, on the best device that works."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from backends.base import Cancellation, Device
from engine.api.record import Timings
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase, PrecisionName
from engine.cancel import CancelToken
from engine.devices.activity import JobActivity
from engine.devices.choice import Candidate
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.families.base import IdentifiedCheckpoint, Parts
from engine.jobs.checkpoint_loading import load_checkpoint
from engine.jobs.device_run import DeviceRun
from engine.jobs.fallback import (
    CURABLE,
    failure_of,
    fitting,
    goes_on,
    taken_over,
    with_size_and_phase,
)
from engine.jobs.job_estimate import JobEstimate
from engine.jobs.job_plan import JobPlan, MemoryAllowance, plan_job
from engine.jobs.preparation import Preparations
from engine.jobs.progress import JobProgress
from engine.jobs.reporting import JobReporter
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.jobs.tiny_preview import (
    PREVIEW_BYTES,
    Previewing,
    TinyPreview,
    loader,
    tiny_decoder_for,
)
from engine.memory.plan import MemoryPlan
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import resolve_job
from engine.pipeline.stages import RunContext, Stopwatch

# How often a job goes on after a copy of weights was damaged: a failing disk ends it.
_MOST_DAMAGES = 3


@dataclass(frozen=True, slots=True)
class JobResult:
    """The pictures of a finished job, the device, and the seconds that each phase took."""

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
    """A job that was read, what it may use, who is told of it, and how far it is."""

    read: ReadJob
    allowance: MemoryAllowance
    saver: PictureSaver
    reporter: JobReporter
    cancel: Cancellation
    stopwatch: Stopwatch
    progress: JobProgress


class JobRunner:
    """Runs jobs one after another.

    One that `prepares` compiles in the background until it is closed.
    """

    def __init__(self, services: JobServices, *, prepares: bool = False) -> None:
        self.services = services
        self.activity = JobActivity()
        self.preparations = self._preparations() if prepares else None

    def plan(self, request: GenerateRequest) -> JobPlan:
        """The plan of a request on the device it would run on first. Raises EngineError."""
        checkpoint = self._checkpoint(request)
        read = read_job(resolve_job(request, checkpoint, self.services.wildcards))
        first = self._candidates(request.backend, request.precision, CancelToken())[0]
        preview_bytes = PREVIEW_BYTES if self._tiny_decoder(checkpoint) else 0
        allowance = MemoryAllowance(request.memory_limit_bytes, preview_bytes)
        return plan_job(read, first, self.services, allowance)

    def close(self) -> None:
        """Stop what goes on beside jobs."""
        self.services.cache.working_copies.abandon()
        if self.preparations is not None:
            self.preparations.close()

    def release(self) -> None:
        """Free what is kept between jobs; what a job uses now stays."""
        self.services.release()

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
        self.activity = self.activity.begin()
        try:
            with self.services.cache.working_copies.holding():
                return self._run(request, saver, reporter, cancel)
        finally:
            self.activity = self.activity.end()

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
            checkpoint = self._with_room(partial(self._checkpoint, request))
            self.services.want_hash(checkpoint)
            if checkpoint.refiner is not None:
                self.services.want_hash(checkpoint.refiner)
            candidates = self._candidates(request.backend, request.precision, cancel)
        if cancel.is_set():
            raise Cancelled
        with host_memory_errors():
            read = read_job(resolve_job(request, checkpoint, self.services.wildcards))
        tiny = self._tiny_decoder(checkpoint) if reporter.shows_previews else None
        allowance = MemoryAllowance(request.memory_limit_bytes, PREVIEW_BYTES if tiny else 0)
        with self._previewing(reporter, checkpoint, candidates[0], tiny) as previewing:
            progress = JobProgress()
            work = _Work(read, allowance, saver, previewing, cancel, stopwatch, progress)
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
        load = loader(tiny, candidate, self.services.cache.working_copies)
        with closing(TinyPreview(load, reporter.show)) as previews:
            yield Previewing(reporter, previews, checkpoint)

    def _tiny_decoder(self, checkpoint: IdentifiedCheckpoint) -> Parts | None:
        services = self.services
        return tiny_decoder_for(checkpoint, services.models, services.known_files.read_index)

    def _ordered(self, work: _Work, candidates: list[Candidate]) -> list[Candidate]:
        """As they are preferred, but that a picture need not wait for a compiler."""
        if self.preparations is None:
            return candidates

        def estimate_on(candidate: Candidate) -> JobEstimate:
            return self._plan_on(candidate, work).estimate

        return self.preparations.order(candidates, estimate_on, partial(_tell, work))

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
                _tell(work, goes_on(error, candidate, following))
                # What is resident on a device that is gone is gone, too.
                self.release()
            else:
                for loser, error in failed:
                    if error.code is ErrorCode.BACKEND_FAILED:
                        self.services.devices.note_failure(loser.device, failure_of(error))
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
                work.progress.pending.forget()
                _tell(work, error.info)
        raise EngineError(
            ErrorCode.WORKING_COPY_DAMAGED,
            "The copies of the weights in the cache are damaged whenever they are made.",
            "The disk or the memory of this computer may be failing.",
        )

    def _made_on(self, candidate: Candidate, work: _Work) -> JobResult:
        plan, progress = self._plan_on(candidate, work), work.progress
        context = RunContext(work.reporter, work.cancel, work.stopwatch)
        run = DeviceRun(plan, self.services, context)
        try:
            with host_memory_errors(), self._watched(plan, work.cancel):
                for image in run.saved_pictures(progress, work.saver):
                    progress.images.append(image)
                    work.reporter.image_saved(image)
        except EngineError as error:
            if error.code not in (ErrorCode.CANCELLED, ErrorCode.WORKING_COPY_DAMAGED):
                # Numbers that are broken may have been so in the file.
                self.services.cache.working_copies.require_sound(work.cancel)
            if error.code is not ErrorCode.OUT_OF_MEMORY:
                raise
            size, phase = plan.job.request, work.stopwatch.latest
            raise with_size_and_phase(error, size, phase, candidate.device.name) from error
        return JobResult(
            images=tuple(progress.images),
            family=plan.job.checkpoint.family,
            device=candidate.device,
            timings=work.stopwatch.timings(),
            warnings=tuple(progress.warnings),
            plan=plan.memory,
            choice=candidate.choice,
        )

    def _watched(self, plan: JobPlan, cancel: Cancellation) -> AbstractContextManager[None]:
        """If the engine dies in this block, the next start blames this device."""
        if plan.compiler.memory().integrated:
            return nullcontext()
        return self.services.crash_markers.running(plan.candidate.device, cancel)

    def _preparations(self) -> Preparations:
        services = self.services
        return Preparations(
            services.estimates,
            services.cache.working_copies.holding,
            services.devices.note_failure,
            lambda: self.activity.is_busy,
        )

    def _candidates(
        self, backend: str, precision: PrecisionName, cancel: Cancellation
    ) -> list[Candidate]:
        devices = self.services.devices
        for device in self.services.crash_markers.crashed():
            devices.note_failure(device, "the engine ended while it was at work")
        return fitting(devices.candidates(backend, cancel), precision)

    def _checkpoint(self, request: GenerateRequest) -> IdentifiedCheckpoint:
        return load_checkpoint(request, self.services.known_files.read_index, self.services.shelf)

    def _with_room(self, load: Callable[[], IdentifiedCheckpoint]) -> IdentifiedCheckpoint:
        """What `load` gives; tried again with everything released where memory ran out."""
        try:
            return load()
        except MemoryError:
            self.release()
        with host_memory_errors():
            return load()

    def _plan_on(self, candidate: Candidate, work: _Work) -> JobPlan:
        return plan_job(work.read, candidate, self.services, work.allowance)


def _tell(work: _Work, warning: ErrorInfo) -> None:
    work.progress.warnings.append(warning)
    work.reporter.warning(warning)
