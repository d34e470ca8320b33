"""Runs a denoiser: takes the pictures of a job through the steps of one pass."""

import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from backends.base import Session
from engine import result_checks
from engine.api.features import ConcatChannels
from engine.api.values import Phase, PredictionType
from engine.checkpoints.index import FileState
from engine.compile.network import Network
from engine.families.architecture import DenoiserModel
from engine.pipeline.control.reference import ReferencePass
from engine.pipeline.control.residuals import ControlRun
from engine.pipeline.control.running import ControlPass
from engine.pipeline.denoise.denoising import ConditionedNetwork, EncodedCanvas
from engine.pipeline.denoise.passes import DenoisingPass, StretchNetwork
from engine.pipeline.denoise.pinning import DenoiserPins, PromptedPicture
from engine.pipeline.denoise.predicting import Answer, Predictor, StretchEnded
from engine.pipeline.denoise.reference_run import ReferenceRun
from engine.pipeline.denoise.segments import Handover, RunSegment, SegmentResult
from engine.pipeline.denoise.tiles import Tile
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.prediction_probe import probe_prediction

_log = logging.getLogger(__name__)

# The prediction types that probes found, by the files of denoisers that do not state theirs; None
# where a probe had no result.
Probed = dict[FileState, PredictionType | None]


class _Attempt(msgspec.Struct, frozen=True, eq=False):
    """A picture's way through a segment; `answers` are those of the stretches that are done."""

    segment: RunSegment
    picture: PromptedPicture
    canvas: EncodedCanvas
    answers: list[Answer] = msgspec.field(default_factory=list[Answer])


class DenoiserRun:
    """Takes the pictures of a job through one pass, with the pass's denoiser.

    A denoiser that is in `probed` is not asked again; what one is found to predict is added there.
    """

    def __init__(
        self,
        pass_: DenoisingPass,
        stages: Stages,
        reporter: Reporter,
        probed: Probed,
        control: ControlPass | None = None,
        attended: ReferencePass | None = None,
    ) -> None:
        self._probed, self._control, self._attended = probed, control, attended
        self._pass, self._checkpoint, self._denoising = pass_, pass_.checkpoint, pass_.denoising
        self._model = pass_.checkpoint.architecture.denoiser
        self._stages, self._reporter = stages, reporter

    @property
    def found(self) -> PredictionType | None:
        """The prediction type that a probe found, for a checkpoint that does not state one."""
        file = self._checkpoint.parts.denoiser.unstated
        return None if file is None else self._probed.get(file)

    def run(
        self,
        networks: Sequence[StretchNetwork],
        picture: PromptedPicture,
        canvas: EncodedCanvas,
        handover: Handover | None = None,
    ) -> SegmentResult:
        """Denoise one picture from the start of the pass to its end, and return the latents.

        Where the weights change within the run there are several `networks`. The sampler is then
        run again for each, and gets the answers of those before it, which are kept: its own
        arithmetic costs little. `handover` is the result of the pass before, if this pass continues
        its run.
        """
        attempt = _Attempt(self._pass.segment(handover), picture, canvas)
        for stretch in networks:
            known = len(attempt.answers)
            if stretch.end is not None and attempt.segment.first_evaluation + known >= stretch.end:
                continue

            def work(
                sessions: Sequence[Session], stretch: StretchNetwork = stretch, known: int = known
            ) -> SegmentResult:
                # Those of an attempt in a lower precision are of no use.
                del attempt.answers[known:]
                return self._run_stretch(sessions, stretch, attempt)

            together = self._together(stretch)
            try:
                return self._stages.run_together(
                    Phase.DENOISE, together, work, _broken_numbers, keep=True
                )
            except StretchEnded:
                continue
        raise AssertionError("the last stretch has no end")

    def _run_stretch(
        self, sessions: Sequence[Session], stretch: StretchNetwork, attempt: _Attempt
    ) -> SegmentResult:
        reporter, segment, picture = self._reporter, attempt.segment, attempt.picture
        session, *beside = sessions
        if (file := self._to_be_probed) is not None:
            self._probed[file] = self._probe(session, stretch.network, picture)
        begun = segment.begin(picture.request, self._after_maps(attempt))
        x = begun.beginning.x
        predict = self._predictor(session, stretch.network, picture, self._pass.tiles)
        predict.concatenated = begun.beginning.concatenated
        if self._control is not None:
            together = stretch.network, *self._controlling(stretch)
            own = sessions[: len(together)]
            predict.control = ControlRun(self._control, together, own, self._stages)
        if self._attended is not None:
            predict.reference = self._referring(self._attended, beside[-1], stretch, picture)
        predict.start(segment.first_evaluation, attempt.answers, stretch.end)
        reporter.progress(segment.first_step, self._denoising.steps)
        prediction = self.found or self._checkpoint.architecture.noise.prediction
        weights = picture.conditioning.weights
        network = ConditionedNetwork(predict, prediction, weights, predict, predict.on_level)
        for step in begun.steps(network):
            x = step.x
            if not predict.replays:
                reporter.progress(*segment.progress(step))
                reporter.preview(step.index + 1, step.denoised, self._checkpoint.latent)
            if result_checks.numbers(x):
                break  # further steps would only cost time
        return begun.finish(x)

    def _after_maps(self, attempt: _Attempt) -> EncodedCanvas:
        """Return the canvas, whose noise follows the draws for the latents of maps."""
        canvas, request = attempt.canvas, attempt.picture.request
        if self._control is None or not request.convention.samples_encoded:
            return canvas
        drawn = self._control.draw(partial(self._denoising.sampled, request=request))
        return msgspec.structs.replace(canvas, drawn=drawn)

    def _together(self, stretch: StretchNetwork) -> tuple[Network, ...]:
        """Return the denoiser of a stretch and those beside it, the reference's run the last."""
        writing = (stretch.writing,) if stretch.writing else ()
        return stretch.network, *self._controlling(stretch), *writing

    def _controlling(self, stretch: StretchNetwork) -> tuple[Network, ...]:
        return self._control.networks(stretch.network, stretch.loras) if self._control else ()

    def _referring(
        self,
        attended: ReferencePass,
        session: Session,
        stretch: StretchNetwork,
        picture: PromptedPicture,
    ) -> ReferenceRun:
        twin, network = self._pass.writing, stretch.writing
        assert twin is not None, "a pass with a reference has a network that runs it"
        assert network is not None, "each of its stretches has one"
        pins = self._pins(session, network, picture, twin.architecture.denoiser)
        masks = twin.architecture.features.concat_channels is ConcatChannels.MASK
        return ReferenceRun(attended, pins, self._stages, self._denoising.seen_noised, masks)

    @property
    def _to_be_probed(self) -> FileState | None:
        """The denoiser's file where it is to be asked; else None."""
        checkpoint = self._checkpoint
        takes_more = checkpoint.architecture.features.concat_channels is not ConcatChannels.NONE
        file = checkpoint.parts.denoiser.unstated
        return None if takes_more or file in self._probed else file

    def _probe(
        self, session: Session, network: Network, picture: PromptedPicture
    ) -> PredictionType | None:
        """Find the denoiser's prediction type by running it on pure noise, with any prompt."""
        shape = self._checkpoint.latent.channels, *self._pass.tiles[0].size
        predict = self._predictor(session, network, picture, self._pass.tiles[:1])
        result = probe_prediction(lambda x, timestep: predict(x, timestep, False)[:1], shape)
        _log.info("the denoiser was asked what it predicts: %s", result)
        return result.prediction

    def _predictor(
        self,
        session: Session,
        network: Network,
        picture: PromptedPicture,
        tiles: tuple[Tile, ...],
    ) -> Predictor:
        pins = self._pins(session, network, picture, self._model)
        asks_without_picture = self._denoising.terms.asks_without_picture
        return Predictor(pins, self._stages.call, tiles, asks_without_picture=asks_without_picture)

    def _pins(
        self,
        session: Session,
        network: Network,
        picture: PromptedPicture,
        model: DenoiserModel,
    ) -> DenoiserPins:
        free_u = self._denoising.levels_within(picture.request.denoiser_options.freeu_range)
        return DenoiserPins(session, picture, model, network.branches, free_u)


def _broken_numbers(result: SegmentResult) -> str | None:
    return result_checks.numbers(result.latent)
