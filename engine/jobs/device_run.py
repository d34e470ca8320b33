"""Runs a job on one device: makes its pictures as planned, and saves each at once."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version

import msgspec

from engine.api.embeddings import EmbeddingReport
from engine.api.record import GenerationRecord, Retry, SecondPassReport
from engine.api.values import ErrorInfo, Phase
from engine.embeddings.embedding import Embedding
from engine.errors import Cancelled, EngineError
from engine.jobs.job_plan import JobPlan
from engine.jobs.lora_hashes import with_hashes
from engine.jobs.progress import JobProgress
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.pipeline.denoise.denoiser_run import Probed
from engine.pipeline.enlarge.second_runs import SecondRun
from engine.pipeline.forecast import Forecast
from engine.pipeline.generate import Generation, Picture
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.stages import RunContext, Stages
from engine.upscalers.reading import Upscaler


class DeviceRun:
    """Makes and saves the remaining pictures of a job, as planned for one device."""

    def __init__(self, plan: JobPlan, services: JobServices, context: RunContext) -> None:
        self.plan, self._services, self._context = plan, services, context

    def saved_pictures(self, progress: JobProgress, saver: PictureSaver) -> Iterator[SavedImage]:
        """Yield each remaining picture once it is durably on disk.

        Its record has the warnings of the job so far, including the picture's own. Raises
        EngineError: WORKING_COPY_DAMAGED where a picture was made with damaged weights.
        """
        plan, stages, context = self.plan, self._stages(), self._context
        if self._services.residency is not None:
            self._services.residency.make_room(plan.memory.spare_bytes, plan.networks)
            if not plan.memory.resident:
                self._services.residency.release()
        with closing(stages), self._noting_shortage(stages), self._keeping_encodings(stages):
            generation = Generation(plan.pictures, stages, context.reporter, progress.pending)
            for picture in generation.pictures(range(len(progress.images), plan.job.count)):
                # The weights must be sound before a picture made with them is saved.
                plan.compiler.require_sound(context.cancel)
                self._keep(generation.probed)
                progress.add_warnings(picture.warnings)
                with stages.timed(Phase.SAVE):
                    record = self._record(picture, stages.retries, progress.warnings)
                    saved = saver.save(picture, record)
                yield saved
                stages.pool.keep_results()
            stages.pool.leave_resident()

    @contextmanager
    def _keeping_encodings(self, stages: Stages) -> Generator[None]:
        """Keep what encoders made also if the user stops the job in the block.

        It is not kept where it is not known yet that their weights are sound.
        """
        try:
            yield
        except Cancelled:
            with suppress(EngineError):
                self.plan.compiler.require_sound(self._context.cancel)
                stages.pool.keep_results()
            raise

    @contextmanager
    def _noting_shortage(self, stages: Stages) -> Generator[None]:
        """Remember for later jobs if the device had too little memory for the plan."""
        pool, device = stages.pool, self.plan.candidate.device
        try:
            yield
        finally:
            if pool.underestimated is not None:
                self._services.shortages.note(device, pool.underestimated)
        if not pool.is_short_of_memory:
            self._services.shortages.note_success(device, self.plan.memory)

    def _stages(self) -> Stages:
        plan, services, compiler = self.plan, self._services, self.plan.compiler
        pool = NetworkPool(
            compiler,
            plan.memory,
            self._context.cancel,
            services.residency,
            services.release,
            services.cache.results,
        )
        forecast = Forecast(services.estimates, compiler)
        return Stages(pool, plan.precisions, self._context, forecast)

    def _keep(self, probed: Probed) -> None:
        """Store the prediction types that probes found, so that no file is probed again."""
        known = self._services.known_files
        for file, found in probed.items():
            if found is not None and known.is_settled(file):
                known.note_prediction(file, found)

    def _record(
        self, picture: Picture, retries: Sequence[Retry], warnings: Sequence[ErrorInfo]
    ) -> GenerationRecord:
        read, candidate = self.plan.pictures.read, self.plan.candidate
        checkpoint, refiner = read.job.checkpoints.first, read.job.checkpoints.refiner
        return GenerationRecord(
            safelight=version("safelight"),
            request=picture.request,
            family=checkpoint.family,
            prediction=picture.prediction or checkpoint.prediction,
            device=candidate.device.name,
            choice=candidate.choice,
            checkpoint_digest=checkpoint.digest,
            checkpoint_sha256=self._services.sha256(checkpoint),
            refiner_digest=refiner and refiner.digest,
            refiner_sha256=refiner and self._services.sha256(refiner),
            retries=tuple(retries),
            warnings=tuple(warnings),
            loras=with_hashes(picture.loras, self._services),
            embeddings=tuple(
                _report(name, embedding) for name, embedding in picture.embeddings.items()
            ),
            controls=picture.controls or msgspec.UNSET,
            image_prompts=self.plan.job.image_prompts.reports or msgspec.UNSET,
            second_passes=tuple(map(self._second, read.second_runs, read.upscalers))
            or msgspec.UNSET,
        )

    def _second(self, second: SecondRun, upscaler: Upscaler | None) -> SecondPassReport:
        own = self.plan.job.checkpoints.seconds[second.number]
        width, height = second.size.size
        return SecondPassReport(
            width=width,
            height=height,
            upscaler_digest=upscaler.digest if upscaler else None,
            checkpoint_digest=own and own.digest,
            checkpoint_sha256=own and self._services.sha256(own),
        )


def _report(name: str, embedding: Embedding) -> EmbeddingReport:
    return EmbeddingReport(
        name=name,
        path=str(embedding.path) if embedding.path else None,
        sha256=embedding.sha256 or None,
        vectors=embedding.count,
    )
