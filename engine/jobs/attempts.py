"""Runs a job on one device after another, until all its pictures are made."""

from contextlib import AbstractContextManager, nullcontext

import msgspec

from backends.base import Cancellation, Device
from engine.api.record import Timings
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.compile.backend_errors import translated_errors
from engine.devices.choice import Candidate
from engine.errors import EngineError, host_memory_errors
from engine.jobs.device_run import DeviceRun
from engine.jobs.fallback import (
    CURABLE,
    chosen_after_failure,
    failure_of,
    takeover_warning,
    with_size_and_phase,
)
from engine.jobs.job_memory import MemoryAllowance, idle_limit_warning
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
_RETRIED_ON_SAME_DEVICE = (ErrorCode.WORKING_COPY_DAMAGED, ErrorCode.REFIT_FAILED)


class JobResult(msgspec.Struct, frozen=True):
    """The pictures of a finished job, its device, the seconds of each phase, and its warnings."""

    images: tuple[SavedImage, ...]
    family: str
    device: Device
    timings: Timings
    warnings: tuple[ErrorInfo, ...]
    plan: MemoryPlan
    # The reason why this device was chosen.
    choice: str = ""


class JobEnvironment(msgspec.Struct, frozen=True, eq=False):
    """The saver and the reporter of a job, its cancellation, stopwatch and memory allowance."""

    saver: PictureSaver
    reporter: JobReporter
    cancel: Cancellation
    stopwatch: Stopwatch
    allowance: MemoryAllowance


class Attempts:
    """Makes the pictures of a read job; if a device fails, the next one continues."""

    def __init__(self, read: ReadJob, services: JobServices, environment: JobEnvironment) -> None:
        self._read, self._services, self._environment = read, services, environment
        self._progress = JobProgress()

    def plan_on(self, candidate: Candidate) -> JobPlan:
        """Plan the job on a device, by the memory that is free now. Raises EngineError."""
        with translated_errors(candidate.device):
            return plan_job(self._read, candidate, self._services, self._environment.allowance)

    def warn(self, warning: ErrorInfo) -> None:
        """Report a warning at once, and add it to the result and to later pictures' records."""
        self._progress.warnings.append(warning)
        self._environment.reporter.warning(warning)

    def run(self, candidates: list[Candidate]) -> JobResult:
        """Make all pictures; if a device fails, the next makes the remaining ones.

        If a later device succeeds, the failed one comes after the others in later jobs, unless it
        only lacked memory. Raises EngineError.
        """
        failed: list[tuple[Candidate, EngineError]] = []
        for candidate, following in zip(candidates, [*candidates[1:], None], strict=True):
            current = chosen_after_failure(candidate, failed[-1][0]) if failed else candidate
            try:
                result = self._run_on(current)
            except EngineError as error:
                if error.code not in CURABLE or following is None:
                    raise
                failed.append((candidate, error))
                self.warn(takeover_warning(error, candidate, following))
                # The sessions that are resident on a lost device are lost, too.
                self._services.release()
            else:
                for loser, error in failed:
                    if error.code is ErrorCode.BACKEND_FAILED:
                        self._services.devices.note_failure(loser.device, failure_of(error))
                return result
        raise AssertionError("candidates() returns at least one device")

    def _run_on(self, candidate: Candidate) -> JobResult:
        """Make the remaining pictures on a device; retry after a damaged copy or a failed refit."""
        damages, failures = 0, self._services.refit_failures
        while damages < _MOST_DAMAGES:
            try:
                return self._attempt_on(candidate)
            except EngineError as error:
                match error.code:
                    case ErrorCode.WORKING_COPY_DAMAGED:
                        damages += 1
                    case ErrorCode.REFIT_FAILED if not failures.has(candidate.device):
                        self._use_side_branches(candidate.device)
                    case _:
                        raise
                self._progress.pending.forget()
                self.warn(error.info)
        raise EngineError(
            ErrorCode.WORKING_COPY_DAMAGED,
            sentence("The copies of the weights in the cache are damaged whenever they are made."),
            sentence("The disk or the memory of this computer may be failing."),
        )

    def _use_side_branches(self, device: Device) -> None:
        """Note that refits fail on a device, and read the job with its LoRAs as side branches."""
        self._services.refit_failures.note(device)
        with host_memory_errors():
            self._read = read_job(self._read.job)

    def _attempt_on(self, candidate: Candidate) -> JobResult:
        plan, progress, environment = self.plan_on(candidate), self._progress, self._environment
        remark = idle_limit_warning(candidate.device, plan.compiler.memory(), environment.allowance)
        if remark is not None and remark not in progress.warnings:
            self.warn(remark)
        context = RunContext(environment.reporter, environment.cancel, environment.stopwatch)
        run, device = DeviceRun(plan, self._services, context), candidate.device
        try:
            with host_memory_errors(), translated_errors(device), self._crash_marker(plan):
                for image in run.saved_pictures(progress, environment.saver):
                    progress.images.append(image)
                    environment.reporter.image_saved(image)
        except EngineError as error:
            if error.code not in (ErrorCode.CANCELLED, *_RETRIED_ON_SAME_DEVICE):
                # A damaged working copy may have caused the failure.
                self._services.cache.require_sound(environment.cancel)
            if error.code is not ErrorCode.OUT_OF_MEMORY:
                raise
            size, phase = self._read.passes[-1].request, environment.stopwatch.latest
            raise with_size_and_phase(error, size, phase, device.name) from error
        return JobResult(
            images=tuple(progress.images),
            family=plan.job.checkpoints.first.family,
            device=device,
            timings=environment.stopwatch.timings(),
            warnings=tuple(progress.warnings),
            plan=plan.memory,
            choice=candidate.choice,
        )

    def _crash_marker(self, plan: JobPlan) -> AbstractContextManager[None]:
        """Return a context; an engine that dies in it blames the device when it starts again.

        A device that shares the host's memory is not blamed.
        """
        if plan.compiler.memory().integrated:
            return nullcontext()
        return self._services.crash_markers.running(plan.candidate.device, self._environment.cancel)
