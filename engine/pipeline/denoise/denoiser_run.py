"""The denoiser at work: pictures through the steps of one pass."""

import logging
from collections.abc import Mapping
from itertools import count

import numpy as np

from backends.base import Array, Session
from engine import result_checks
from engine.api.features import ConcatChannels
from engine.api.record import ResolvedRequest
from engine.api.values import Phase, PredictionType
from engine.compile.network import Network
from engine.families.architecture import Conditioning
from engine.pipeline.denoise.denoising import ConditionedNetwork, EncodedCanvas
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.denoise.segments import Handover, SegmentResult
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.denoiser import Predict
from engine.sampling.prediction_probe import probe_prediction
from engine.sampling.types import Latent

_log = logging.getLogger(__name__)


class DenoiserRun:
    """Takes the pictures of a job through one pass, with the pass's denoiser."""

    def __init__(self, one: DenoisingPass, stages: Stages, reporter: Reporter) -> None:
        self._pass, self._checkpoint, self._denoising = one, one.checkpoint, one.denoising
        self._model = one.checkpoint.architecture.denoiser
        self._stages, self._reporter = stages, reporter
        # What the denoiser was found to predict, where nothing states it and it has run.
        self.found: PredictionType | None = None
        self._probed = False

    def run(
        self,
        network: Network,
        request: ResolvedRequest,
        prompt: Conditioning,
        canvas: EncodedCanvas,
        handover: Handover | None = None,
    ) -> SegmentResult:
        """Denoise one picture: from what the pass begins with to latents.

        `request` is the picture's, `handover` what the pass before leaves to this one.
        """
        reporter, segment = self._reporter, self._pass.segment(handover)

        def work(session: Session) -> SegmentResult:
            if self._is_to_be_probed:
                self._probe(session, request, prompt)
            attempt = segment.begin(request, canvas)
            x, concatenated = attempt.beginning.x, attempt.beginning.concatenated
            first = segment.first_evaluation
            predict = self._predict(session, request, prompt, concatenated, first)
            reporter.progress(segment.first_step, self._denoising.steps)
            prediction = self.found or self._checkpoint.architecture.noise.prediction
            for step in attempt.steps(ConditionedNetwork(predict, prediction, prompt.weights)):
                x = step.x
                reporter.progress(*segment.progress(step))
                reporter.preview(step.index + 1, step.denoised, self._checkpoint.latent)
                if result_checks.numbers(x):
                    break  # further steps would only cost time
            return attempt.finish(x)

        return self._stages.run(Phase.DENOISE, network, work, _broken_numbers, keep=True)

    @property
    def _is_to_be_probed(self) -> bool:
        checkpoint = self._checkpoint
        takes_more = checkpoint.architecture.features.concat_channels is not ConcatChannels.NONE
        is_unstated = checkpoint.parts.denoiser.unstated is not None
        return is_unstated and not self._probed and not takes_more

    def _probe(self, session: Session, request: ResolvedRequest, prompt: Conditioning) -> None:
        """Find out what the denoiser predicts; whatever the text, it shows in noise alone."""
        form = self._checkpoint.latent
        shape = form.channels, request.height // form.downscale, request.width // form.downscale
        predict = self._predict(session, request, prompt, None)
        result = probe_prediction(lambda x, timestep: predict(x, timestep, False)[:1], shape)
        self.found, self._probed = result.prediction, True
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


def _broken_numbers(result: SegmentResult) -> str | None:
    return result_checks.numbers(result.latent)


def _last_again(rows: Array) -> Array:
    """The negative prompt holds without the picture, too."""
    return np.concatenate([rows, rows[-1:]])


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
