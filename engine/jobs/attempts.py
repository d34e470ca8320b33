"""Runs a job on one device after another, until all its pictures are made."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from backends.base import Cancellation, Device
from engine.api.record import Timings
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.devices.choice import Candidate
from engine.errors import EngineError, host_memory_errors
from engine.jobs.device_run import DeviceRun
from engine.jobs.fallback import CURABLE, failure_of, goes_on, taken_over, with_size_and_phase
from engine.jobs.job_memory import MemoryAllowance, without_use
from engine.jobs.job_plan import JobPlan, plan_job
from engine.jobs.progress import JobProgress
from engine.jobs.reporting import JobReporter
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.memory.plan import MemoryPlan
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.stages import RunContext, Stopwatch

# The most attempts on a device that end with a damaged working copy: a failing disk ends the job.
_MOST_DAMAGES = 3
# Failures after which the same device may go on.
_AGAIN = (ErrorCode.WORKING_COPY_DAMAGED, ErrorCode.REFIT_FAILED)


@dataclass(frozen=True, slots=True)
class JobResult:
    """The pictures of a finished job, its device, the seconds of each phase, and its warnings."""

    images: tuple[SavedImage, ...]
    family: str
    device: Device
    timings: Timings
    warnings: tuple[ErrorInfo, ...]
    plan: MemoryPlan
    # The reason why this device was chosen.
    choice: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class JobSetting:
    """The saver and the reporter of a job, its cancellation, its stopwatch and its memory."""

    saver: PictureSaver
    reporter: JobReporter
    cancel: Cancellation
    stopwatch: Stopwatch
    allowance: MemoryAllowance


class Attempts:
    """Makes the pictures of a read job; if a device fails, the next one continues."""

    def __init__(self, read: ReadJob, services: JobServices, setting: JobSetting) -> None:
        self._read, self._services, self._setting = read, services, setting
        self._progress = JobProgress()

    def plan_on(self, candidate: Candidate) -> JobPlan:
        """Plan the job on a device, by the memory that is free now. Raises EngineError."""
        return plan_job(self._read, candidate, self._services, self._setting.allowance)

    def warn(self, warning: ErrorInfo) -> None:
        """Report a warning at once, and add it to the result and to later pictures' records."""
        self._progress.warnings.append(warning)
        self._setting.reporter.warning(warning)

    def on_first_that_can(self, candidates: list[Candidate]) -> JobResult:
        """Make all pictures; if a device fails, the next makes the remaining ones.

        If a later device succeeds, the failed one comes after the others in later jobs, unless it
        only lacked memory. Raises EngineError.
        """
        failed: list[tuple[Candidate, EngineError]] = []
        for candidate, following in zip(candidates, [*candidates[1:], None], strict=True):
            current = taken_over(candidate, failed[-1][0]) if failed else candidate
            try:
                result = self._on_device(current)
            except EngineError as error:
                if error.code not in CURABLE or following is None:
                    raise
                failed.append((candidate, error))
                self.warn(goes_on(error, candidate, following))
                # The sessions that are resident on a lost device are lost, too.
                self._services.release()
            else:
                for loser, error in failed:
                    if error.code is ErrorCode.BACKEND_FAILED:
                        self._services.devices.note_failure(loser.device, failure_of(error))
                return result
        raise AssertionError("candidates() returns at least one device")

    def _on_device(self, candidate: Candidate) -> JobResult:
        """Make the remaining pictures on a device; retry after a damaged copy or a failed refit."""
        damages = 0
        while damages < _MOST_DAMAGES:
            try:
                return self._made_on(candidate)
            except EngineError as error:
                if error.code is ErrorCode.WORKING_COPY_DAMAGED:
                    damages += 1
                elif error.code is not ErrorCode.REFIT_FAILED or not self._reads_again(candidate):
                    raise
                self._progress.pending.forget()
                self.warn(error.info)
        raise EngineError(
            ErrorCode.WORKING_COPY_DAMAGED,
            sentence("The copies of the weights in the cache are damaged whenever they are made."),
            sentence("The disk or the memory of this computer may be failing."),
        )

    def _reads_again(self, candidate: Candidate) -> bool:
        """Read the job again after a failed refit, so that its LoRAs run beside the layers.

        Return False, and read nothing, if refits have failed on the device before.
        """
        failures = self._services.refit_failures
        if failures.has(candidate.device):
            return False
        failures.note(candidate.device)
        with host_memory_errors():
            self._read = read_job(self._read.job)
        return True

    def _made_on(self, candidate: Candidate) -> JobResult:
        plan, progress, setting = self.plan_on(candidate), self._progress, self._setting
        remark = without_use(candidate.device, plan.compiler.memory(), setting.allowance)
        if remark is not None and remark not in progress.warnings:
            self.warn(remark)
        context = RunContext(setting.reporter, setting.cancel, setting.stopwatch)
        run = DeviceRun(plan, self._services, context)
        try:
            with host_memory_errors(), self._blamed(plan):
                for image in run.saved_pictures(progress, setting.saver):
                    progress.images.append(image)
                    setting.reporter.image_saved(image)
        except EngineError as error:
            if error.code not in (ErrorCode.CANCELLED, *_AGAIN):
                # A damaged working copy may have caused the failure.
                self._services.cache.require_sound(setting.cancel)
            if error.code is not ErrorCode.OUT_OF_MEMORY:
                raise
            size, phase = plan.job.request, setting.stopwatch.latest
            raise with_size_and_phase(error, size, phase, candidate.device.name) from error
        return JobResult(
            images=tuple(progress.images),
            family=plan.job.checkpoint.family,
            device=candidate.device,
            timings=setting.stopwatch.timings(),
            warnings=tuple(progress.warnings),
            plan=plan.memory,
            choice=candidate.choice,
        )

    def _blamed(self, plan: JobPlan) -> AbstractContextManager[None]:
        """Return a block in which a crash of the engine is blamed on the device, at the next start.

        A device that shares the host's memory is not blamed.
        """
        if plan.compiler.memory().integrated:
            return nullcontext()
        return self._services.crash_markers.running(plan.candidate.device, self._setting.cancel)
