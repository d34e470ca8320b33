"""Runs a denoiser: takes the pictures of a job through the steps of one pass."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, eq=False)
class PromptedPicture:
    """One picture's request in a pass, and its encoded prompts."""

    request: ResolvedRequest
    conditioning: Conditioning

    def inputs(self, evaluation: int, *, guided: bool) -> Mapping[str, Array]:
        """Return the denoiser's inputs for the prompts in effect at an evaluation."""
        return self.conditioning.inputs(evaluation, self.request, guided=guided)


class DenoiserRun:
    """Takes the pictures of a job through one pass, with the pass's denoiser."""

    def __init__(self, one: DenoisingPass, stages: Stages, reporter: Reporter) -> None:
        self._pass, self._checkpoint, self._denoising = one, one.checkpoint, one.denoising
        self._model = one.checkpoint.architecture.denoiser
        self._stages, self._reporter = stages, reporter
        # The prediction type that a probe found, for a checkpoint that does not state one.
        self.found: PredictionType | None = None
        self._probed = False

    def run(
        self,
        network: Network,
        picture: PromptedPicture,
        canvas: EncodedCanvas,
        handover: Handover | None = None,
    ) -> SegmentResult:
        """Denoise one picture from the start of the pass to its end, and return the latents.

        `handover` is the result of the pass before, if this pass continues its run.
        """
        reporter, segment = self._reporter, self._pass.segment(handover)

        def work(session: Session) -> SegmentResult:
            if self._is_to_be_probed:
                self._probe(session, picture)
            attempt = segment.begin(picture.request, canvas)
            x, concatenated = attempt.beginning.x, attempt.beginning.concatenated
            first = segment.first_evaluation
            predict = self._predict(session, picture, concatenated, first)
            weights = picture.conditioning.weights
            reporter.progress(segment.first_step, self._denoising.steps)
            prediction = self.found or self._checkpoint.architecture.noise.prediction
            for step in attempt.steps(ConditionedNetwork(predict, prediction, weights)):
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

    def _probe(self, session: Session, picture: PromptedPicture) -> None:
        """Find the denoiser's prediction type by running it on pure noise, with any prompt."""
        form, own = self._checkpoint.latent, self._pass.request
        shape = form.channels, own.height // form.downscale, own.width // form.downscale
        predict = self._predict(session, picture, None)
        result = probe_prediction(lambda x, timestep: predict(x, timestep, False)[:1], shape)
        self.found, self._probed = result.prediction, True
        _log.info("the denoiser was asked what it predicts: %s", result)

    def _predict(
        self,
        session: Session,
        picture: PromptedPicture,
        concatenated: Latent | None,
        evaluated: int = 0,
    ) -> Predict:
        """Return a function that runs the network with the prompts in effect at each evaluation."""
        evaluations = count(evaluated)
        pinned: Mapping[str, Array] | None = None

        def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
            nonlocal pinned
            without_picture = guided and self._denoising.asks_without_picture
            inputs = picture.inputs(next(evaluations), guided=guided)
            if inputs is not pinned:
                for name, rows in inputs.items():
                    session.pin(name, _last_again(rows) if without_picture else rows)
                pinned = inputs
            sample = x if concatenated is None else _concatenated(x, concatenated)
            if without_picture and concatenated is not None:
                hidden = _concatenated(x, np.zeros_like(concatenated))
                contexts = len(next(iter(inputs.values())))
                sample = np.concatenate([sample] * contexts + [hidden])
            level = self._model.timestep_inputs(float(timestep), picture.request.guidance)
            feeds = {"sample": sample, **level}
            return self._stages.call(session, feeds)["prediction"]

        return predict


def _broken_numbers(result: SegmentResult) -> str | None:
    return result_checks.numbers(result.latent)


def _last_again(rows: Array) -> Array:
    """Repeat the last row, the negative prompt's, for the evaluation without the picture."""
    return np.concatenate([rows, rows[-1:]])


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Append the same channels [1, D, H, W] to each of the latents [batch, C, H, W]."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
