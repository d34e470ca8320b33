"""Runs one job from request to saved pictures, on the best device that works."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from backends.base import Cancellation, Device
from engine.api.record import Timings
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.known_files import KnownFiles
from engine.checkpoints.safetensors import read_index
from engine.compile.compiler import Compiler
from engine.errors import Cancelled, EngineError
from engine.families.base import IdentifiedCheckpoint, LatentFormat
from engine.families.identify import identify, require_complete, supply
from engine.jobs.background_hash import BackgroundHash
from engine.jobs.device_run import DeviceRun
from engine.jobs.devices import candidates
from engine.jobs.saving import PictureSaver, SavedImage
from engine.memory.plan import MemoryPlan
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency
from engine.memory.working_copy import WorkingCopies
from engine.pipeline.resolve import resolve
from engine.pipeline.stages import Reporter, Stopwatch
from engine.sampling.types import Latent


class JobReporter(Reporter, Protocol):
    """Told how a job goes, on the thread that runs it."""

    def image_saved(self, image: SavedImage) -> None:
        """A picture is on disk."""
        ...

    def warning(self, warning: ErrorInfo) -> None:
        """Something failed and was worked around."""
        ...


class SilentReporter:
    """A `JobReporter` that says nothing; a base for those that say little."""

    def phase(self, phase: Phase) -> None:
        """Say nothing."""

    def progress(self, done: int, total: int) -> None:
        """Say nothing."""

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Say nothing."""

    def image_saved(self, image: SavedImage) -> None:
        """Say nothing."""

    def warning(self, warning: ErrorInfo) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a finished job made, where, and how long each phase took."""

    images: tuple[SavedImage, ...]
    family: str
    device: Device
    timings: Timings
    warnings: tuple[ErrorInfo, ...]
    plan: MemoryPlan


class JobRunner:
    """Runs jobs one after another; `cache` is the folder for what can be made again.

    `wildcards` is the one of lists of words that prompts name. With a `residency` networks stay
    loaded between jobs where there is room; with `hashes` whole checkpoints are hashed meanwhile.
    """

    def __init__(
        self,
        cache: Path,
        wildcards: Path | None = None,
        residency: Residency | None = None,
        hashes: BackgroundHash | None = None,
    ) -> None:
        self.known_files = known_files(cache)
        self.hashes = hashes
        self.working_copies = WorkingCopies(cache / "weights")
        self.wildcards = wildcards
        self.residency = residency

    def plan(self, request: GenerateRequest) -> tuple[Device, MemoryPlan]:
        """What a request would need on the device it would run on first. Raises EngineError."""
        checkpoint = load_checkpoint(request, self.known_files.read_index)
        backend, device = candidates(request.backend)[0]
        compiler = Compiler(backend, device, self.working_copies)
        return device, self._device_run(request, checkpoint, compiler, Stopwatch()).plan

    def release(self) -> None:
        """Free what is kept between jobs; what a job uses now stays."""
        if self.residency is not None:
            self.residency.release()
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
        with self.working_copies.holding():
            return self._run(request, saver, reporter, cancel)

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
            checkpoint = load_checkpoint(request, self.known_files.read_index)
            if self.hashes is not None:
                self.hashes.want(checkpoint)
            devices = candidates(request.backend)
        if cancel.is_set():
            raise Cancelled
        drawn = resolve(request, checkpoint, devices[0][1])
        request = msgspec.structs.replace(request, seed=drawn.seed, seed_options=drawn.seed_options)
        images: list[SavedImage] = []
        warnings: list[ErrorInfo] = []
        for backend, device in devices:
            # Where one device fails the next goes on: same seeds, remaining pictures.
            compiler = Compiler(backend, device, self.working_copies)
            run = self._device_run(request, checkpoint, compiler, stopwatch)
            try:
                for image in run.saved_pictures(len(images), saver, reporter, cancel, warnings):
                    images.append(image)
                    reporter.image_saved(image)
            except EngineError as error:
                if error.code is not ErrorCode.BACKEND_FAILED or device is devices[-1][1]:
                    raise
                warnings.append(error.info)
                reporter.warning(error.info)
                continue
            result = (checkpoint.family, device, stopwatch.timings(), tuple(warnings), run.plan)
            return JobResult(tuple(images), *result)
        raise AssertionError("candidates() returns at least one device")

    def _device_run(
        self,
        request: GenerateRequest,
        checkpoint: IdentifiedCheckpoint,
        compiler: Compiler,
        stopwatch: Stopwatch,
    ) -> DeviceRun:
        folders = self.wildcards, self.residency
        return DeviceRun(request, checkpoint, compiler, stopwatch, *folders, self.known_files)


def known_files(cache: Path) -> KnownFiles:
    """What is remembered of files in the cache."""
    return KnownFiles(cache / "files")


def load_checkpoint(request: GenerateRequest, read: ReadIndex = read_index) -> IdentifiedCheckpoint:
    """The request's checkpoint with its supplied components, complete. Raises EngineError."""
    if request.checkpoint is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_FOUND, "No checkpoint is chosen.", "Choose one with --model."
        )
    checkpoint = supply(identify(Path(request.checkpoint), read), request.components, read)
    require_complete(checkpoint)
    return checkpoint
