"""Runs requests to make pictures larger on the best device that works, and tells of it before."""

import math
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

import msgspec

from backends.base import Cancellation, Precision
from engine.api.bounds import bounded
from engine.api.record import Timings
from engine.api.saving import Saving
from engine.api.sentences import sentence
from engine.api.speed import upscaling_trials
from engine.api.upscaling import UpscaleOutlook, UpscaleRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.estimates import Kind, Work
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.file_paths import exists
from engine.jobs.runner import JobRunner
from engine.jobs.upscaling import UpscaledImage, UpscaleJob, UpscaleListener, upscaled_files
from engine.output import Destination
from engine.pipeline.forecast import PhaseEstimate
from engine.pipeline.stages import Stopwatch
from engine.upscalers.pictures import picture_shape, source_gone
from engine.upscalers.reading import Upscaler, read_upscaler
from engine.upscalers.running import UpscalerRun, peak_on, precisions_on, tiles_on
from engine.upscalers.tile_plan import tiles_of
from engine.upscalers.upscale import Shape, Wanted, passes_within, shapes

_ACTIVITY = "upscale"
_FLOAT32 = 4


class UpscaleReporter(Protocol):
    """Receives the events of a job that makes a picture larger, on the thread that runs it."""

    def expect(self, estimate: PhaseEstimate) -> None:
        """Receive the estimate for the phase that begins next."""
        ...

    def phase(self, phase: Phase) -> None:
        """Receive the beginning of a phase."""
        ...

    def progress(self, done: int, total: int) -> None:
        """Receive how much of the phase is done."""
        ...

    def image_upscaled(self, image: UpscaledImage) -> None:
        """Receive a picture that was saved."""
        ...

    def warning(self, warning: ErrorInfo) -> None:
        """Receive a warning about a failure that the job worked around."""
        ...


class UpscaleResult(msgspec.Struct, frozen=True):
    """The device of a finished job, empty where none was needed; its times and its warnings."""

    device: str
    timings: Timings
    warnings: tuple[ErrorInfo, ...]


class UpscaleTarget(msgspec.Struct, frozen=True):
    """The folder that a picture is saved in, and how it is written."""

    folder: Path
    saving: Saving


class UpscaleRunner:
    """Makes pictures larger with the services and devices of a runner of jobs."""

    def __init__(self, runner: JobRunner) -> None:
        self._runner, self._services = runner, runner.services

    def run(
        self,
        request: UpscaleRequest,
        target: UpscaleTarget,
        reporter: UpscaleReporter,
        cancel: Cancellation,
    ) -> UpscaleResult:
        """Make the picture of a request larger and save it. Raises EngineError and Cancelled."""
        stopwatch, warnings = Stopwatch(), list[ErrorInfo]()

        def warn(warning: ErrorInfo) -> None:
            warnings.append(warning)
            reporter.warning(warning)

        with self._runner.at_work():
            reporter.phase(Phase.LOAD)
            with stopwatch.measuring(Phase.LOAD):
                job = self._job(request, target)
                candidates = (
                    self._runner.candidates(request.backend, cancel) if job.upscaler else []
                )
            reporter.expect(PhaseEstimate(self._seconds(job, candidates), 0.0))
            reporter.phase(Phase.ENLARGE)
            listener = UpscaleListener(
                reporter.progress,
                warn,
                cancel,
                self._note,
                self._services.devices.note_failure,
                lambda candidate: self._blamed(candidate, cancel),
            )
            with stopwatch.measuring(Phase.ENLARGE):
                (image,) = upscaled_files(job, candidates, self._services.cache, listener)
            reporter.image_upscaled(image)
            self._services.estimates.save()
        return UpscaleResult(image.report.device or "", stopwatch.timings(), tuple(warnings))

    def _seconds(self, job: UpscaleJob, candidates: list[Candidate]) -> float | None:
        """Return the seconds that a job should take; None where it was never timed."""
        if job.upscaler is None:
            return None
        plan = _planned(job, picture_shape(job.pictures[0]))
        return self._expected(job.upscaler, plan.pixels, candidates[0])

    def outlook(self, request: UpscaleRequest) -> UpscaleOutlook:
        """Return what making a picture larger takes. Raises EngineError where it cannot be made."""
        job = self._job(request, UpscaleTarget(Path(), Saving()))
        plan = _planned(job, picture_shape(Path(request.source)))
        width, height = plan.size
        if job.upscaler is None:
            return UpscaleOutlook(
                width=width, height=height, peak_bytes=plan.picture_bytes, seconds=0.0
            )
        candidate = self._runner.candidates(request.backend, CancelToken())[0]
        compiler, network = self._services.compiler(candidate), job.upscaler.network
        tiling = tiles_on(network, compiler, job.tile)
        peak = max(peak_on(network, compiler, tiling, shape) for shape in plan.shapes)
        measured = self._expected(job.upscaler, plan.pixels, candidate)
        seconds = measured
        if seconds is None:
            seconds = seconds_by_trial(job.upscaler, plan.pixels, candidate.milliseconds)
        return UpscaleOutlook(
            width=width,
            height=height,
            runs=plan.runs,
            tiles=tiles_of(network, tiling, plan.shapes[0]),
            peak_bytes=peak + plan.picture_bytes,
            free_bytes=compiler.memory().free,
            seconds=seconds,
            is_measured=measured is not None,
            device=candidate.device.name,
        )

    def _job(self, request: UpscaleRequest, target: UpscaleTarget) -> UpscaleJob:
        """Return the job of a request; an upscaler's file is read. Raises EngineError."""
        _require_bounds(request)
        source, method = Path(request.source), request.method
        upscaler = None
        if method is None:
            read = self._services.known_files.read_index
            upscaler = read_upscaler(Path(request.upscaler), read)
        elif request.size is None and request.scale is None and request.longest is None:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("{method} has no scale of its own.", method=method.value),
                sentence("Choose a scale, or a width and a height."),
            )
        if not exists(source):
            raise source_gone(source)
        resampling = request.resampling if method is None else method
        wanted = Wanted(request.size, request.scale, resampling, request.longest)
        folder = Destination(target.folder)
        return UpscaleJob((source,), wanted, folder, target.saving, upscaler, request.tile)

    def _blamed(self, candidate: Candidate, cancel: Cancellation) -> AbstractContextManager[None]:
        """Return a block in which a crash of the engine is blamed on a device.

        A device that shares the host's memory is not blamed.
        """
        if self._services.compiler(candidate).memory().integrated:
            return nullcontext()
        return self._services.crash_markers.running(candidate.device, cancel)

    def _expected(self, upscaler: Upscaler, pixels: int, candidate: Candidate) -> float | None:
        """Return the seconds that an upscaler should take; None if it was never timed here."""
        compiler = self._services.compiler(candidate)
        precision = precisions_on(upscaler.network, compiler)[0]
        work = Work(_kind(upscaler, compiler, precision), float(pixels))
        return self._services.estimates.expect(work)

    def _note(self, run: UpscalerRun, pixels: int, seconds: float) -> None:
        """Note the seconds that a network took over so many pixels of its channels."""
        kind = _kind(run.upscaler, run.compiler, run.precisions[0])
        self._services.estimates.note(Work(kind, float(pixels)), seconds)


class _Planned(msgspec.Struct, frozen=True):
    """The width and height of a picture to be, and the planes that a network gets for it."""

    size: tuple[int, int]
    before: Shape
    shapes: tuple[Shape, ...]
    runs: int

    @property
    def pixels(self) -> int:
        """The numbers in all planes that a network gets."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def picture_bytes(self) -> int:
        """The bytes of the picture before and after, as numbers and as levels."""
        (width, height), (channels, *before) = self.size, self.before
        return channels * (width * height + math.prod(before)) * (_FLOAT32 + 1)


def _planned(job: UpscaleJob, before: Shape) -> _Planned:
    """Return the plan of a picture [channels, height, width]. Raises EngineError."""
    _, height, width = before
    network = job.upscaler.network if job.upscaler is not None else None
    size = job.wanted.size_for((width, height), network.scale if network is not None else 1)
    if network is None:
        return _Planned(size, before, (), 0)
    runs = passes_within((width, height), size, network.scale)
    # Opacity that is the same everywhere, as nearly always, is not enlarged.
    planes = shapes((width, height), runs, network.scale, opaque=True)
    return _Planned(size, before, planes, runs)


def _kind(upscaler: Upscaler, compiler: Compiler, precision: Precision) -> Kind:
    device = compiler.device
    return Kind(_ACTIVITY, upscaler.digest, device.backend, device.name, precision.value)


def seconds_by_trial(upscaler: Upscaler, pixels: int, milliseconds: float) -> float | None:
    """Return the seconds as the time of a device's trial tells them; None before it was tried.

    None also for attention, whose products are not with weights: SwinIR took ten times as long.
    """
    if math.isinf(milliseconds) or upscaler.network.attends:
        return None
    weights = sum(weight.elements for weight in upscaler.network.weights.values())
    channels = upscaler.network.channels
    return upscaling_trials(weights, pixels / channels) * milliseconds / 1000


def _require_bounds(request: UpscaleRequest) -> None:
    wrong = next((number for number in bounded(request) if not number.is_within), None)
    if wrong is not None:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The {name} is {value}; it may be from {low} to {high}.",
                name=wrong.name,
                value=wrong.value,
                low=wrong.low,
                high=wrong.high,
            ),
        )
