"""The denoiser at work: a picture's run through the steps that one checkpoint takes."""

import logging
from itertools import count

import numpy as np

from backends.base import Array, Session
from engine import result_checks
from engine.api.record import ResolvedRequest
from engine.api.values import Beside, Phase, PredictionType
from engine.compile.compiler import Network
from engine.families.base import IdentifiedCheckpoint
from engine.families.shared.clip.joint_conditioning import JointConditioning
from engine.families.shared.clip.token_plan import PromptPlan
from engine.pipeline import networks
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.denoise.handover import Leg
from engine.pipeline.denoise.size_conditioning import added_conditioning
from engine.pipeline.forecast import Run
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
        self._asked = False
        # By contexts and tokens.
        self._networks: dict[tuple[int, int], Network] = {}

    def network(self, plan: PromptPlan) -> Network:
        """The denoiser for these prompts and the job's size; the same one for the same shape."""
        shape = contexts, tokens = self._contexts(plan), plan.shape(guided=self._is_guided)[1]
        if shape not in self._networks:
            size = self._request.height, self._request.width
            # Asked without its picture, too, it is given that beside each latent or not.
            rows = contexts if self._denoising.asks_without_picture else 1
            self._networks[shape] = networks.denoiser(
                self._checkpoint, *size, contexts=contexts, tokens=tokens, rows=rows
            )
        return self._networks[shape]

    @property
    def _is_guided(self) -> bool:
        return self._denoising.is_guided

    def _contexts(self, plan: PromptPlan) -> int:
        """How many predictions an evaluation makes."""
        return plan.shape(guided=self._is_guided)[0] + self._denoising.asks_without_picture

    def forecast(self, plan: PromptPlan, cells: int, share: float = 1.0) -> Run:
        """A picture's steps, or a share of them, for estimates."""
        evaluations = self._denoising.steps * SAMPLERS[self._request.sampler].evaluations
        times = max(round(share * evaluations), 1) * self._contexts(plan)
        return Run(Phase.DENOISE, self.network(plan), times=times, each=True, size=cells)

    def run(
        self,
        network: Network,
        request: ResolvedRequest,
        prompt: JointConditioning,
        canvas: EncodedCanvas,
        part: Leg | None = None,
    ) -> Latent:
        """From seeded noise, over what the canvas holds if anything, to a clean latent.

        Of the run it takes a `part`, or all of it.
        """
        reporter, leg = self._reporter, part or self._denoising

        def work(session: Session) -> Latent:
            if self._is_to_be_asked:
                self._ask(session, request, prompt)
            beginning = leg.start(request, canvas)
            predict = self._predict(session, request, prompt, beginning.beside, leg.evaluated)
            x = beginning.x
            reporter.progress(leg.begun, self._denoising.steps)
            for step in leg.run(beginning, predict, prompt.weights):
                x = step.x
                reporter.progress(*leg.progress(step))
                reporter.preview(step.index + 1, step.denoised, self._checkpoint.latent)
                if result_checks.numbers(x):
                    break  # further steps would only cost time
            return leg.finish(x, beginning.kept)

        return self._stages.run(Phase.DENOISE, network, work, result_checks.numbers, keep=True)

    @property
    def _is_to_be_asked(self) -> bool:
        checkpoint = self._checkpoint
        sees_more = networks.seen_beside(checkpoint) is not Beside.NOTHING
        return checkpoint.parts.unstated is not None and not self._asked and not sees_more

    def _ask(self, session: Session, request: ResolvedRequest, prompt: JointConditioning) -> None:
        """Find out what the denoiser predicts; whatever the text, it shows in noise alone."""
        form = self._checkpoint.latent
        shape = form.channels, request.height // form.downscale, request.width // form.downscale
        predict = self._predict(session, request, prompt, None)
        result = probe_prediction(lambda x, timestep: predict(x, timestep, False)[:1], shape)
        self.found, self._asked = result.prediction, True
        if self.found is not None:
            self._denoising.prediction = self.found
        _log.info("the denoiser was asked what it predicts: %s", result)

    def _predict(
        self,
        session: Session,
        request: ResolvedRequest,
        prompt: JointConditioning,
        beside: Latent | None,
        evaluated: int = 0,
    ) -> Predict:
        """What the network says under the prompts that are in effect at each evaluation."""
        evaluations = count(evaluated)
        pinned: Array | None = None

        def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
            nonlocal pinned
            evaluation = next(evaluations)
            without_picture = guided and self._denoising.asks_without_picture
            context = prompt.at(evaluation, guided=guided)
            # The same object while nothing changes.
            if context is not pinned:
                session.pin("context", _last_again(context) if without_picture else context)
                pooled = prompt.pooled_at(evaluation, guided=guided)
                if pooled is not None:
                    added = added_conditioning(self._checkpoint, request, pooled, guided=guided)
                    session.pin("added", _last_again(added) if without_picture else added)
                pinned = context
            sample = x if beside is None else _beside(x, beside)
            if without_picture and beside is not None:
                hidden = _beside(x, np.zeros_like(beside))
                sample = np.concatenate([sample] * len(context) + [hidden])
            told = networks.told(self._checkpoint, float(timestep), request.guidance)
            feeds = {"sample": sample, **told}
            return self._stages.call(session, feeds)["prediction"]

        return predict


def _last_again(rows: Array) -> Array:
    """The negative prompt holds without the picture, too."""
    return np.concatenate([rows, rows[-1:]])


def _beside(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
