"""Runs a job from the request to saved pictures, on the best device that works."""

from collections.abc import Generator
from contextlib import closing, contextmanager

from backends.base import Cancellation
from engine.api.machine import MemoryOutlook
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, Phase
from engine.cancel import CancelToken
from engine.compile.backend_errors import translated_errors
from engine.devices.activity import JobActivity
from engine.devices.choice import Candidate
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.families.architecture import TinyDecoder
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import LatentFormat
from engine.jobs.attempts import Attempts, JobEnvironment, JobResult
from engine.jobs.background_compiles import BackgroundCompiles
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.fallback import preferring_for_blocks, roomiest_first, suitable
from engine.jobs.job_estimate import JobEstimate
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import JobPlan, plan_job
from engine.jobs.lora_mode_choice import LoraModeChoice
from engine.jobs.reporting import JobReporter
from engine.jobs.roundings import asks_for_blocks
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.jobs.tiny_preview import (
    PREVIEW_BYTES,
    Previewing,
    TinyPreview,
    loader,
    tiny_decoder_for,
)
from engine.lora.names_below import Report
from engine.memory.plan import WeightPlacement
from engine.pipeline.found_networks import with_networks
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import resolve_job
from engine.pipeline.stages import Stopwatch


class JobRunner:
    """Runs jobs one after another.

    With `prepares` it compiles networks in the background, until it is closed.
    """

    def __init__(self, services: JobServices, *, prepares: bool = False) -> None:
        self.services = services
        self.activity = JobActivity()
        self.background_compiles = self._background_compiles() if prepares else None

    def close(self) -> None:
        """Stop background work: the writing of working copies, and compiles."""
        self.services.listed_facts.save()
        self.services.cache.abandon()
        if self.background_compiles is not None:
            self.background_compiles.close()

    def release(self) -> None:
        """Free the networks kept between jobs, but not those in use by a job."""
        self.services.release()

    def run(
        self,
        request: GenerateRequest,
        saver: PictureSaver,
        reporter: JobReporter,
        cancel: Cancellation,
    ) -> JobResult:
        """Make and save every picture of the request, on the first device that works.

        Raises EngineError, and Cancelled if asked to stop. Pictures that were saved stay.
        """
        with self.at_work():
            return self._run(request, saver, reporter, cancel)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Count as busy within the block, in which a job runs."""
        self.activity = self.activity.begin()
        try:
            with self.services.working(), self.services.cache.holding():
                yield
        finally:
            self.activity = self.activity.end()

    def outlook(self, request: GenerateRequest) -> MemoryOutlook:
        """Return the memory plan of a request without making its pictures.

        Raises EngineError; NOT_AVAILABLE while a job runs.
        """
        if self.activity.is_busy:
            message = sentence("The memory of the next pictures is planned when no job runs.")
            raise EngineError(ErrorCode.NOT_AVAILABLE, message)
        job = self._planned(request)
        plan, rounding = job.memory, job.compiler.rounding
        return MemoryOutlook(
            device=job.candidate.device.name,
            peak_bytes=plan.peak_bytes,
            budget_bytes=plan.budget_bytes,
            stays_loaded=plan.resident,
            takes_turns=not plan.together,
            tiles=plan.tiles,
            text_encoder_bits=rounding.text_encoder,
            denoiser_bits=rounding.denoiser,
            streams=plan.placement is WeightPlacement.STREAMED,
        )

    def estimate(self, request: GenerateRequest) -> JobEstimate:
        """Return the networks of a request on the preferred device. Raises EngineError."""
        return self._planned(request).estimate

    def _planned(self, request: GenerateRequest) -> JobPlan:
        read, candidates = self._read(request, CancelToken(), Stopwatch(), is_wanted=False)
        allowance = MemoryAllowance(request.memory_limit_bytes, request.device_memory_limit_bytes)

        def plan_on(candidate: Candidate) -> JobPlan:
            with translated_errors(candidate.device):
                return plan_job(read, candidate, self.services, allowance)

        return plan_on(roomiest_first(candidates, plan_on)[0])

    def _run(
        self,
        request: GenerateRequest,
        saver: PictureSaver,
        reporter: JobReporter,
        cancel: Cancellation,
    ) -> JobResult:
        stopwatch = Stopwatch()
        reporter.phase(Phase.LOAD)
        saver.require_writable()
        read, candidates = self._read(request, cancel, stopwatch, is_wanted=True)
        checkpoint = read.job.checkpoints.first
        tiny = self._tiny_decoder(checkpoint) if reporter.shows_previews else None
        limits = request.memory_limit_bytes, request.device_memory_limit_bytes
        allowance = MemoryAllowance(*limits, preview_bytes=PREVIEW_BYTES if tiny else 0)
        with self._previewing(reporter, candidates[0], tiny, checkpoint.latent) as previewing:
            environment = JobEnvironment(saver, previewing, cancel, stopwatch, allowance)
            attempts = Attempts(read, self.services, environment)
            return attempts.run(self._ordered(candidates, attempts))

    def _read(
        self,
        request: GenerateRequest,
        cancel: Cancellation,
        stopwatch: Stopwatch,
        *,
        is_wanted: bool,
    ) -> tuple[ReadJob, list[Candidate]]:
        """Read a job that `is_wanted`, or is only planned; return it and its devices, in order.

        Each device has the precision that is best on it. Raises EngineError and Cancelled.
        """

        def stop_if_asked(_done: int = 0) -> None:
            if cancel.is_set():
                raise Cancelled

        services, precision, bits = self.services, request.precision, request.weight_bits
        backend, blocks = request.backend, asks_for_blocks(bits, request.text_weight_bits)
        with stopwatch.measuring(Phase.LOAD):
            request = self._with_networks(request, stop_if_asked)
            checkpoints = self._checkpoints(request)
            if is_wanted:
                services.want_hashes(checkpoints)
            found = suitable(self.candidates(backend, cancel), precision, holds_blocks=blocks)
            found = preferring_for_blocks(
                found, checkpoints.first, precision, bits, backend=backend
            )
        stop_if_asked()
        choice = LoraModeChoice(
            services.estimates,
            services.refit_failures,
            services.wanted_loras,
            found[0],
            request.count,
            is_wanted=is_wanted,
        )
        with host_memory_errors():
            files = services.named_files(stop_if_asked)
            return read_job(resolve_job(request, checkpoints, files, choice)), found

    def _with_networks(self, request: GenerateRequest, report: Report) -> GenerateRequest:
        """Return the request with the paths of the files of its layers and passes, as of now."""
        if not (request.controls or request.image_prompts or request.second_passes):
            return request
        services = self.services
        lookup = services.network_lookup(report)
        with host_memory_errors():
            return with_networks(request, lookup, services.known_files.read_index)

    def _checkpoints(self, request: GenerateRequest) -> JobCheckpoints:
        """Identify the checkpoints; if memory runs out, try again after `release`."""
        read, find_gaps = self.services.known_files.read_index, self.services.gaps
        try:
            return load_checkpoints(request, read, find_gaps)
        except MemoryError:
            self.release()
        with host_memory_errors():
            return load_checkpoints(request, read, find_gaps)

    def candidates(self, backend: str, cancel: Cancellation) -> list[Candidate]:
        """Return the devices for a job, by preference; one under which the engine died goes last.

        Raises EngineError where there is none.
        """
        devices = self.services.devices
        for device in self.services.crash_markers.crashed():
            devices.note_failure(device, "the engine ended while it was at work")
        return devices.candidates(backend, cancel)

    def _ordered(self, candidates: list[Candidate], attempts: Attempts) -> list[Candidate]:
        """Return the candidates by preference, with one that must compile first put last."""
        candidates = roomiest_first(candidates, attempts.plan_on)
        if self.background_compiles is None:
            return candidates

        def estimate_on(candidate: Candidate) -> JobEstimate:
            return attempts.plan_on(candidate).estimate

        return self.background_compiles.order(candidates, estimate_on, attempts.warn)

    def _tiny_decoder(self, checkpoint: IdentifiedCheckpoint) -> TinyDecoder | None:
        services = self.services
        files = services.tiny_files.below(services.model_folders)
        return tiny_decoder_for(checkpoint, files, services.known_files.read_index)

    @contextmanager
    def _previewing(
        self,
        reporter: JobReporter,
        candidate: Candidate,
        tiny: TinyDecoder | None,
        form: LatentFormat,
    ) -> Generator[JobReporter]:
        """Provide the reporter within the block, with previews by the tiny VAE if there is one."""
        if tiny is None:
            yield reporter
            return
        load = loader(tiny.network, candidate, self.services.cache.working_copies)
        with closing(TinyPreview(load, reporter.show)) as previews:
            yield Previewing(reporter, previews, tiny, form)

    def _background_compiles(self) -> BackgroundCompiles:
        services = self.services
        return BackgroundCompiles(
            services.estimates,
            services.cache.holding,
            services.devices.note_failure,
            lambda: self.activity.is_busy,
        )
