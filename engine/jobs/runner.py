"""Runs one job from request to saved pictures, on the best device that works."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import msgspec

from backends.base import Backend, Cancellation, Device, Precision
from engine.api.record import GenerationRecord, ResolvedRequest, Retry, Timings
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.compile.compiler import Compiler
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.identify import identify, require_complete, supply
from engine.jobs.devices import candidates
from engine.jobs.saving import PictureSaver, SavedImage
from engine.memory.plan import ComponentBytes, MemoryPlan, plan_memory
from engine.memory.working_copy import WorkingCopies
from engine.pipeline.generate import Generation, Job
from engine.pipeline.resolve import precisions, resolve
from engine.pipeline.stages import Reporter, Stages, Stopwatch
from engine.text.tokenizers import load_clip_tokenizer, load_tokenizer


class JobReporter(Reporter, Protocol):
    """Told how a job goes, on the thread that runs it."""

    def image_saved(self, image: SavedImage) -> None:
        """A picture is on disk."""
        ...

    def warning(self, warning: ErrorInfo) -> None:
        """Something failed and was worked around."""
        ...


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a finished job made, where, and how long each phase took."""

    images: tuple[SavedImage, ...]
    family: str
    device: Device
    timings: Timings
    warnings: tuple[ErrorInfo, ...]


class JobRunner:
    """Runs jobs one after another; `cache` is the folder for what can be made again."""

    def __init__(self, cache: Path) -> None:
        self._working_copies = WorkingCopies(cache / "weights")

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
        stopwatch = Stopwatch()
        reporter.phase(Phase.LOAD)
        with stopwatch.measuring(Phase.LOAD):
            saver.require_writable()
            checkpoint = load_checkpoint(request)
            devices = candidates(request.backend)
        first = resolve(request, checkpoint, devices[0][1])
        images: list[SavedImage] = []
        warnings: list[ErrorInfo] = []
        for position, (backend, device) in enumerate(devices):
            # Where one device fails the next goes on: same seeds, remaining pictures.
            resolved = resolve(_remaining(request, first.seed, len(images)), checkpoint, device)
            run = _DeviceRun(resolved, checkpoint, backend, device, self._working_copies, stopwatch)
            count = request.count - len(images)
            try:
                for image in run.saved_pictures(request, count, saver, reporter, cancel, warnings):
                    images.append(image)
                    reporter.image_saved(image)
                return JobResult(
                    tuple(images), checkpoint.family, device, stopwatch.timings(), tuple(warnings)
                )
            except EngineError as error:
                is_last = position == len(devices) - 1
                if error.code is not ErrorCode.BACKEND_FAILED or is_last:
                    raise
                warnings.append(error.info)
                reporter.warning(error.info)
        raise AssertionError("candidates() returns at least one device")


def load_checkpoint(request: GenerateRequest) -> IdentifiedCheckpoint:
    """The request's checkpoint with its supplied components, complete. Raises EngineError."""
    if request.checkpoint is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_FOUND, "No checkpoint is chosen.", "Choose one with --model."
        )
    checkpoint = supply(identify(Path(request.checkpoint)), request.components)
    require_complete(checkpoint)
    return checkpoint


def _remaining(request: GenerateRequest, seed: int, done: int) -> GenerateRequest:
    """What is left of a request whose first `done` pictures, from `seed` on, are saved."""
    return msgspec.structs.replace(request, seed=seed + done, count=request.count - done)


class _DeviceRun:
    """A job on one device."""

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        backend: Backend,
        device: Device,
        working_copies: WorkingCopies,
        stopwatch: Stopwatch,
    ) -> None:
        self.request, self.checkpoint, self.stopwatch = request, checkpoint, stopwatch
        self.backend, self.device = backend, device
        self.compiler = Compiler(backend, device, working_copies)

    def saved_pictures(
        self,
        request: GenerateRequest,
        count: int,
        saver: PictureSaver,
        reporter: JobReporter,
        cancel: Cancellation,
        warnings: Sequence[ErrorInfo],
    ) -> Iterator[SavedImage]:
        """Yield each picture once it is durably on disk."""
        choices = precisions(request.precision, self.device)
        plan = self._plan(request, count, choices[0])
        stages = Stages(self.compiler, plan, choices, reporter, cancel, self.stopwatch)
        own = self.checkpoint.tokenizer
        tokenizer = load_tokenizer(own) if own else load_clip_tokenizer()
        job = Job(self.request, self.checkpoint, tokenizer, count)
        with closing(stages):
            for picture in Generation(job, stages, reporter).pictures():
                reporter.phase(Phase.SAVE)
                with self.stopwatch.measuring(Phase.SAVE):
                    record = self._record(picture.seed, stages.retries, warnings)
                    yield saver.save(picture, record)

    def _plan(self, request: GenerateRequest, count: int, precision: Precision) -> MemoryPlan:
        latent = self.checkpoint.latent.downscale
        return plan_memory(
            self._bytes(Component.DENOISER, precision),
            self._bytes(Component.VAE, precision),
            cells=(self.request.width // latent) * (self.request.height // latent),
            pictures=count,
            free_bytes=self.backend.memory(self.device).free,
            limit_bytes=request.memory_limit_bytes,
        )

    def _bytes(self, component: Component, precision: Precision) -> ComponentBytes:
        weights = self.checkpoint.components[component].weights
        parameters = sum(math.prod(ref.shape) for ref in weights.values())
        return ComponentBytes(
            packed=parameters * precision.dtype.itemsize,
            converted=self.compiler.converted_bytes(weights, precision),
        )

    def _record(
        self, seed: int, retries: Sequence[Retry], warnings: Sequence[ErrorInfo]
    ) -> GenerationRecord:
        return GenerationRecord(
            safelight=version("safelight"),
            request=msgspec.structs.replace(self.request, seed=seed),
            family=self.checkpoint.family,
            prediction=self.checkpoint.prediction,
            device=self.device.name,
            checkpoint_digest=self.checkpoint.digest,
            retries=tuple(retries),
            warnings=tuple(warnings),
        )
