"""A job on one device: plan its memory, make its pictures, save each at once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec

from backends.base import Cancellation, Precision
from engine.api.record import GenerationRecord, ResolvedRequest, Retry
from engine.api.remedies import MakeSmaller, RaiseMemoryLimit
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase, PredictionType
from engine.checkpoints.known_files import KnownFiles
from engine.compile.compiler import Compiler
from engine.compile.estimates import Estimates
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.jobs.job_estimate import Prospect, prospect
from engine.jobs.saving import PictureSaver, SavedImage
from engine.memory.plan import TILE_CELLS, ComponentBytes, MemoryNeeds, MemoryPlan, plan_memory
from engine.memory.residency import Residency
from engine.pipeline import networks
from engine.pipeline.denoise.denoising import guidances
from engine.pipeline.forecast import Forecast
from engine.pipeline.generate import Generation, Job, Undecoded
from engine.pipeline.resolve import precisions, resolve
from engine.pipeline.stages import Reporter, Stages, Stopwatch
from engine.text import expand_wildcards
from engine.text.tokenizers import tokenizer_of


class DeviceRun:
    """What is left of a job, on one device."""

    def __init__(
        self,
        request: GenerateRequest,
        checkpoint: IdentifiedCheckpoint,
        compiler: Compiler,
        stopwatch: Stopwatch,
        wildcards: Path | None,
        residency: Residency | None,
        known_files: KnownFiles,
        estimates: Estimates,
        release: Callable[[], None],
        choice: str = "",
        *,
        preview_bytes: int = 0,
        undecoded: Undecoded | None = None,
    ) -> None:
        """Resolve and plan. Raises EngineError: REQUEST_INVALID, or OUT_OF_MEMORY beforehand."""
        self.count = request.count
        expands = partial(expand_wildcards, folder=wildcards)
        self.replace_wildcards = expands if request.expand_wildcards else None
        self.resolved = resolve(request, checkpoint, compiler.device)
        self.precisions = precisions(request.precision, compiler.device)
        self.checkpoint, self.compiler, self.stopwatch = checkpoint, compiler, stopwatch
        self.residency = residency
        self.known_files, self.estimates, self.release = known_files, estimates, release
        self.choice = choice
        self.preview_bytes, self.undecoded = preview_bytes, undecoded
        self.plan = self._plan(request.memory_limit_bytes)
        self._require_room(request.memory_limit_bytes)
        tile = TILE_CELLS * checkpoint.latent.downscale
        larger = max(self.resolved.width, self.resolved.height) > tile
        if self.plan.tiles and larger and self.resolved.vae_tile is None:
            self.resolved = msgspec.structs.replace(self.resolved, vae_tile=tile)

    def saved_pictures(
        self,
        made: int,
        saver: PictureSaver,
        reporter: Reporter,
        cancel: Cancellation,
        warnings: list[ErrorInfo],
    ) -> Iterator[SavedImage]:
        """Yield each picture once it is durably on disk, without the first that are `made`.

        Its record repeats the `warnings`, to which those of the pictures themselves are added.
        Raises EngineError: WORKING_COPY_DAMAGED where a picture is not to be believed.
        """
        stages = self._stages(reporter, cancel)
        if self.residency is not None and not self.plan.resident:
            self.residency.release()
        with closing(stages):
            generation = Generation(self._job(made), stages, reporter, self.undecoded)
            for picture in generation.pictures():
                # Before anything is kept that was made with them.
                self.compiler.require_sound(cancel)
                self.plan = stages.plan
                self._keep(generation.found_prediction)
                warnings += [w for w in generation.warnings if w not in warnings]
                with stages.timed(Phase.SAVE):
                    found = generation.found_prediction
                    record = self._record(picture.request, stages.retries, warnings, found)
                    saved = saver.save(picture, record)
                yield saved
            stages.leave_resident()

    def prospect(self, reporter: Reporter, cancel: Cancellation) -> Prospect:
        """What the job will load and take. Raises EngineError as its beginning would."""
        runs = Generation(self._job(0), self._stages(reporter, cancel), reporter).first_runs()
        return prospect(self.compiler, self.precisions, self.plan, runs, self.count, self.estimates)

    def _stages(self, reporter: Reporter, cancel: Cancellation) -> Stages:
        compiler = self.compiler
        return Stages(
            compiler,
            self.plan,
            self.precisions,
            reporter,
            cancel,
            self.stopwatch,
            self.residency,
            Forecast(self.estimates, compiler),
            self.release,
        )

    def _job(self, made: int) -> Job:
        return Job(
            self.resolved,
            self.checkpoint,
            tokenizer_of(self.checkpoint.tokenizer),
            self.count,
            range(made, self.count),
            self.replace_wildcards,
        )

    def _plan(self, limit: int | None) -> MemoryPlan:
        latent, precision = self.checkpoint.latent.downscale, self.precisions[0]
        vae_precision = networks.decoder(self.checkpoint).precisions(self.precisions)[0]
        texts, tile = networks.text_encoders(self.checkpoint), self.resolved.vae_tile
        freeable = self.residency.weight_bytes if self.residency else 0
        needs = MemoryNeeds(
            denoiser=self._bytes((Component.DENOISER,), precision),
            vae=self._bytes((Component.VAE,), vae_precision),
            text_encoder=self._bytes(texts, precision),
            largest_text=max(
                (self._bytes((one,), precision) for one in texts), key=lambda one: one.packed
            ),
            refiner=self._refiner_bytes(precision),
            cells=(self.resolved.width // latent) * (self.resolved.height // latent),
            # One that edits is asked once more, without its picture.
            contexts=2 + (guidances(self.resolved)[1] != 1),
            vae_itemsize=vae_precision.dtype.itemsize,
            tile_cells=tile and (tile // latent) ** 2,
            preview_bytes=self.preview_bytes,
        )
        return plan_memory(
            needs,
            pictures=self.count,
            more_jobs=self.residency is not None,
            free_bytes=self.compiler.memory().free + freeable,
            limit_bytes=limit,
        )

    def _refiner_bytes(self, precision: Precision) -> ComponentBytes | None:
        refiner = self.checkpoint.refiner
        if refiner is None:
            return None
        return self._bytes((Component.DENOISER,), precision, refiner)

    def _require_room(self, limit: int | None) -> None:
        """Refuse what cannot fit, before minutes of work end in a crash.

        Without a limit only what exceeds the whole machine is refused: the estimate is generous,
        and what is free now may grow.
        """
        plan = self.plan
        most = self.compiler.memory().total if limit is None else limit
        if plan.fits or plan.peak_bytes <= most:
            return
        width, height = self.resolved.width, self.resolved.height
        smaller = MakeSmaller(width=width, height=height)
        raise EngineError(
            ErrorCode.OUT_OF_MEMORY,
            f"A picture of {width}x{height} needs about {plan.peak_bytes / 1e9:.1f} GB of memory; "
            f"{most / 1e9:.1f} GB may be used.",
            remedies=(smaller, RaiseMemoryLimit()) if limit else (smaller,),
        )

    def _bytes(
        self,
        components: tuple[Component, ...],
        precision: Precision,
        checkpoint: IdentifiedCheckpoint | None = None,
    ) -> ComponentBytes:
        """Of components that are loaded together where anything stays loaded."""
        parts = (checkpoint or self.checkpoint).components
        weights = [parts[component].weights for component in components]
        parameters = sum(ref.elements for some in weights for ref in some.values())
        return ComponentBytes(
            packed=parameters * precision.dtype.itemsize,
            converted=sum(self.compiler.converted_bytes(some, precision) for some in weights),
        )

    def _keep(self, found: PredictionType | None) -> None:
        """Remember what the denoiser showed that it predicts: it need not be asked again."""
        file = self.checkpoint.parts.unstated
        if found is not None and file is not None and self.known_files.is_settled(file):
            self.known_files.note_prediction(file, found)

    def _record(
        self,
        request: ResolvedRequest,
        retries: Sequence[Retry],
        warnings: Sequence[ErrorInfo],
        found: PredictionType | None,
    ) -> GenerationRecord:
        refiner = self.checkpoint.refiner
        return GenerationRecord(
            safelight=version("safelight"),
            request=request,
            family=self.checkpoint.family,
            prediction=found or self.checkpoint.prediction,
            device=self.compiler.device.name,
            choice=self.choice,
            checkpoint_digest=self.checkpoint.digest,
            checkpoint_sha256=self._sha256(self.checkpoint),
            refiner_digest=refiner and refiner.digest,
            refiner_sha256=refiner and self._sha256(refiner),
            retries=tuple(retries),
            warnings=tuple(warnings),
        )

    def _sha256(self, checkpoint: IdentifiedCheckpoint) -> str | None:
        return self.known_files.sha256(checkpoint.file) if checkpoint.file else None
