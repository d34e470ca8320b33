"""The denoiser at work: a picture's run through the steps that one checkpoint takes."""

import logging
from itertools import count

import numpy as np

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.api.values import Phase, PredictionType
from engine.compile.compiler import Network
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline import checks, networks
from engine.pipeline.denoising import Denoising, EncodedImage
from engine.pipeline.forecast import Run
from engine.pipeline.joint_conditioning import JointConditioning
from engine.pipeline.prompt_plan import PromptPlan
from engine.pipeline.size_conditioning import added_conditioning
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.denoiser import Predict
from engine.sampling.prediction_probe import probe_prediction
from engine.sampling.samplers import SAMPLERS
from engine.sampling.types import Latent

_log = logging.getLogger(__name__)


class DenoiserRun:
    """Takes the pictures of a job through the denoiser of a checkpoint."""

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        denoising: Denoising,
        stages: Stages,
        reporter: Reporter,
    ) -> None:
        self._request, self._checkpoint = request, checkpoint
        self._denoising, self._stages, self._reporter = denoising, stages, reporter
        # What the denoiser showed that it predicts, where nothing states it.
        self.found: PredictionType | None = None
        # By contexts and tokens.
        self._networks: dict[tuple[int, int], Network] = {}

    def network(self, plan: PromptPlan) -> Network:
        """The denoiser for these prompts and the job's size; the same one for the same shape."""
        shape = contexts, tokens = plan.shape(guided=self._request.guidance != 1)
        if shape not in self._networks:
            size = self._request.height, self._request.width
            self._networks[shape] = networks.denoiser(
                self._checkpoint, *size, contexts=contexts, tokens=tokens
            )
        return self._networks[shape]

    def forecast(self, plan: PromptPlan, cells: int) -> Run:
        """A picture's steps, for estimates."""
        contexts, _ = plan.shape(guided=self._request.guidance != 1)
        evaluations = self._denoising.steps * SAMPLERS[self._request.sampler].evaluations
        return Run(
            Phase.DENOISE, self.network(plan), times=evaluations * contexts, each=True, size=cells
        )

    def run(
        self,
        network: Network,
        request: ResolvedRequest,
        prompt: JointConditioning,
        init: EncodedImage | None,
        beside: Latent | None,
    ) -> Latent:
        """From seeded noise, over the init picture if there is one, to a clean latent."""
        denoising, reporter = self._denoising, self._reporter

        def work(session: Session) -> Latent:
            if self._is_to_be_asked:
                self._ask(session, request, prompt)
            predict = self._predict(session, request, prompt, beside)
            x, noise = denoising.start(request, init)
            total = denoising.steps
            reporter.progress(0, total)
            for step in denoising.run(x, noise, predict, prompt.weights):
                x = step.x
                reporter.progress(step.progress(total), total)
                reporter.preview(step.index + 1, step.denoised, self._checkpoint.latent)
                if checks.numbers(x):
                    break  # further steps would only cost time
            return denoising.finish(x)

        return self._stages.run(Phase.DENOISE, network, work, checks.numbers, keep=True)

    @property
    def _is_to_be_asked(self) -> bool:
        checkpoint = self._checkpoint
        sees_more = networks.denoiser_channels(checkpoint) != checkpoint.latent.channels
        return checkpoint.parts.unstated is not None and self.found is None and not sees_more

    def _ask(self, session: Session, request: ResolvedRequest, prompt: JointConditioning) -> None:
        """Find out what the denoiser predicts; whatever the text, it shows in noise alone."""
        form = self._checkpoint.latent
        shape = form.channels, request.height // form.downscale, request.width // form.downscale
        predict = self._predict(session, request, prompt, None)
        result = probe_prediction(lambda x, timestep: predict(x, timestep, False)[:1], shape)
        self.found = result.prediction
        if self.found is not None:
            self._denoising.prediction = self.found
        _log.info("the denoiser was asked what it predicts: %s", result)

    def _predict(
        self,
        session: Session,
        request: ResolvedRequest,
        prompt: JointConditioning,
        beside: Latent | None,
    ) -> Predict:
        """What the network says under the prompts that are in effect at each evaluation."""
        evaluations = count()
        pinned: Array | None = None

        def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
            nonlocal pinned
            evaluation = next(evaluations)
            context = prompt.at(evaluation, guided=guided)
            # The same object while nothing changes.
            if context is not pinned:
                session.pin("context", context)
                pooled = prompt.pooled_at(evaluation, guided=guided)
                if pooled is not None:
                    added = added_conditioning(self._checkpoint, request, pooled, guided=guided)
                    session.pin("added", added)
                pinned = context
            sample = x if beside is None else _beside(x, beside)
            waves = networks.time_waves(self._checkpoint, float(timestep))
            feeds = {"sample": sample, "time_waves": waves}
            return self._stages.call(session, feeds)["prediction"]

        return predict


def _beside(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
