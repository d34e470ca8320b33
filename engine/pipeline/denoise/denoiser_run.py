"""The denoiser at work: a picture's run through the steps that one checkpoint takes."""

import logging
from collections.abc import Mapping
from itertools import count

import numpy as np

from backends.base import Array, Session
from engine import result_checks
from engine.api.features import ConcatChannels
from engine.api.record import ResolvedRequest
from engine.api.values import Phase, PredictionType
from engine.compile.compiler import Network
from engine.families.architecture import Conditioning, TextPlan, Texts
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.denoise.handover import Leg
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
        self._model = checkpoint.architecture.denoiser
        self._denoising, self._stages, self._reporter = denoising, stages, reporter
        # What the denoiser showed that it predicts, where nothing states it.
        self.found: PredictionType | None = None
        self._asked = False

    def network(self, plan: TextPlan, texts: Texts) -> Network:
        """The denoiser for these prompts and the job's size; the same one for the same shape."""
        contexts, tokens = self._shape(plan, texts)
        # Image guidance takes a latent for each context, with its picture or without.
        rows = contexts if self._denoising.asks_without_picture else 1
        size = self._request.height, self._request.width
        return self._model.network(*size, contexts=contexts, tokens=tokens, rows=rows)

    @property
    def _is_guided(self) -> bool:
        return self._denoising.is_guided

    def _shape(self, plan: TextPlan, texts: Texts) -> tuple[int, int]:
        """The predictions that an evaluation makes, and the tokens of each one's context."""
        contexts, tokens = plan.shape(texts, guided=self._is_guided)
        return contexts + self._denoising.asks_without_picture, tokens

    def forecast(self, plan: TextPlan, texts: Texts, cells: int, share: float = 1.0) -> Run:
        """A picture's steps, or a share of them, for estimates."""
        evaluations = self._denoising.steps * SAMPLERS[self._request.sampler].evaluations
        times = max(round(share * evaluations), 1) * self._shape(plan, texts)[0]
        return Run(Phase.DENOISE, self.network(plan, texts), times=times, each=True, size=cells)

    def run(
        self,
        network: Network,
        request: ResolvedRequest,
        prompt: Conditioning,
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
            predict = self._predict(session, request, prompt, beginning.concatenated, leg.evaluated)
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
        takes_more = checkpoint.architecture.features.concat_channels is not ConcatChannels.NONE
        return checkpoint.parts.unstated is not None and not self._asked and not takes_more

    def _ask(self, session: Session, request: ResolvedRequest, prompt: Conditioning) -> None:
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
        prompt: Conditioning,
        concatenated: Latent | None,
        evaluated: int = 0,
    ) -> Predict:
        """What the network says under the prompts that are in effect at each evaluation."""
        evaluations = count(evaluated)
        pinned: Mapping[str, Array] | None = None

        def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
            nonlocal pinned
            without_picture = guided and self._denoising.asks_without_picture
            inputs = prompt.inputs(next(evaluations), request, guided=guided)
            if inputs is not pinned:
                for name, rows in inputs.items():
                    session.pin(name, _last_again(rows) if without_picture else rows)
                pinned = inputs
            sample = x if concatenated is None else _concatenated(x, concatenated)
            if without_picture and concatenated is not None:
                hidden = _concatenated(x, np.zeros_like(concatenated))
                contexts = len(next(iter(inputs.values())))
                sample = np.concatenate([sample] * contexts + [hidden])
            timestep_inputs = self._model.timestep_inputs(float(timestep), request.guidance)
            feeds = {"sample": sample, **timestep_inputs}
            return self._stages.call(session, feeds)["prediction"]

        return predict


def _last_again(rows: Array) -> Array:
    """The negative prompt holds without the picture, too."""
    return np.concatenate([rows, rows[-1:]])


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
