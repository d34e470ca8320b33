"""Evaluates a denoiser at a sampler's steps, with the prompts and LoRA strengths in effect."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array, Feeds, Session
from engine.families.network_changes import ATTENTION
from engine.pipeline.control.residuals import ControlInputs, ControlRun
from engine.pipeline.denoise.pinning import DenoiserPins, Rows
from engine.pipeline.denoise.reference_run import Asked, ReferenceRun
from engine.pipeline.denoise.tiles import Tile, in_tiles
from engine.sampling.attention_guidance import enlarged
from engine.sampling.types import Latent

PREDICTION = "prediction"
# Runs a session once with these inputs.
Call = Callable[[Session, Feeds], dict[str, Array]]


class StretchEnded(Exception):  # noqa: N818 (part of a run, no fault)
    """Ends a stretch of a run: the next evaluation needs other weights."""


class Answer(msgspec.Struct, eq=False):
    """The results of one evaluation, kept to be replayed.

    `outputs` are the predictions, `attention` that of the middle if the network shows it, and
    `again` the predictions of a second look in the same step.
    """

    outputs: Latent
    attention: Latent | None = None
    again: Latent | None = None


@dataclass(slots=True, eq=False)
class Predictor:
    """An `AttentivePredict`: the denoiser in a session, with what is in effect at each evaluation.

    `asks_without_picture`: there is one more context, the last again, which is evaluated without
    the picture that is edited.
    """

    pins: DenoiserPins
    call: Call
    # The tiles that the denoiser sees one by one; a single one is the whole latent.
    tiles: tuple[Tile, ...]
    concatenated: Latent | None = None
    asks_without_picture: bool = False
    control: ControlRun | None = None
    reference: ReferenceRun | None = None
    # The level of the evaluation that follows.
    level: float = field(default=math.inf, init=False)
    # True while the answers of earlier stretches are replayed.
    replays: bool = field(default=False, init=False)
    _first: int = field(default=0, init=False)
    _evaluated: int = field(default=0, init=False)
    _answers: list[Answer] = field(default_factory=list[Answer], init=False)
    _latest: Answer | None = field(default=None, init=False)
    _end: int | None = field(default=None, init=False)

    def start(self, first: int, answers: list[Answer], end: int | None) -> None:
        """Count evaluations from `first` on, and begin with the `answers` that are known.

        Where the stretch has an `end`, its last evaluation plus one, new answers are added to the
        list, and `StretchEnded` is raised there.
        """
        self._first = self._evaluated = first
        self._answers, self._end = answers, end

    def on_level(self, sigma: np.float32) -> None:
        """Take the noise level of the evaluations that follow."""
        self.level = float(sigma)

    def __call__(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Return the network's predictions for latents [batch, C, H, W] at a timestep."""
        return self._answer(x, timestep, guided=guided, perturbs=False).outputs

    def perturbed(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Return them, followed by one with perturbed attention for each positive prompt."""
        return self._answer(x, timestep, guided=guided, perturbs=True).outputs

    def attention(self) -> Latent:
        """Return the attention of the middle in the latest evaluation: [rows, cells]."""
        assert self._latest is not None, "the network was evaluated"
        assert self._latest.attention is not None, "the network shows its attention"
        return self._latest.attention

    def again(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Evaluate the network once more in the same step, with another `x`."""
        answer = self._latest
        assert answer is not None, "the network was evaluated"
        if answer.again is None:
            evaluation = self._evaluated - 1
            inputs = self.pins.picture.inputs(evaluation, guided=guided)
            count = _contexts(inputs)
            negative = count - 1 if guided else None
            rows = Rows((count - 1,) if guided else tuple(range(count)), negative=negative)
            answer.again = self._run(x, timestep, inputs, rows).outputs
        return answer.again

    def _answer(self, x: Latent, timestep: np.float32, *, guided: bool, perturbs: bool) -> Answer:
        evaluation = self._evaluated
        self._evaluated += 1
        known = evaluation - self._first
        self.replays = known < len(self._answers)
        if self.replays:
            self._latest = self._answers[known]
            return self._latest
        if self._end is not None and evaluation >= self._end:
            raise StretchEnded
        inputs = self.pins.picture.inputs(evaluation, guided=guided)
        rows = self._rows(_contexts(inputs), guided=guided, perturbs=perturbs)
        self.pins.pin_strengths(evaluation)
        self._latest = self._run(x, timestep, inputs, rows)
        if self._end is not None:
            self._answers.append(self._latest)
        return self._latest

    def _rows(self, contexts: int, *, guided: bool, perturbs: bool) -> Rows:
        places, hidden = tuple(range(contexts)), None
        if guided and self.asks_without_picture:
            # The negative prompt once more.
            places, hidden = (*places, contexts - 1), contexts
        positives = tuple(range(contexts - guided)) if perturbs else ()
        negative = contexts - 1 if guided else None
        return Rows((*places, *positives), len(positives), hidden, negative)

    def _run(
        self, x: Latent, timestep: np.float32, inputs: Mapping[str, Array], rows: Rows
    ) -> Answer:
        pins, evaluation = self.pins, self._evaluated - 1
        pins.pin(inputs, rows, evaluation, self.level)
        level = pins.model.timestep_inputs(float(timestep), pins.picture.request.guidance)
        asked = Asked(inputs, rows, evaluation, self.level, level)
        maps: list[Array] = []

        def predict(tile: Tile, seen: Array) -> Array:
            number = self.tiles.index(tile)
            pins.pin_tile(number)
            latents = seen[: len(x), : x.shape[1]]
            control_inputs = ControlInputs(
                evaluation,
                self.level,
                latents,
                inputs,
                len(pins.picture.conditioning.weights) * len(x),
                rows.places,
                level,
                tile if len(self.tiles) > 1 else None,
                pins.branch_strengths,
            )
            residuals: Feeds = self.control.residuals(control_inputs) if self.control else {}
            kept: Feeds = self.reference.kept(asked, number) if self.reference else {}
            found = self.call(pins.session, {"sample": seen, **level, **residuals, **kept})
            if ATTENTION in found:
                maps.append(found[ATTENTION])
            return found[PREDICTION]

        outputs = in_tiles(self.tiles, self._sample(x, rows), predict)
        return Answer(outputs, self._whole_attention(maps, x.shape[2:]))

    def _whole_attention(self, maps: Sequence[Array], size: tuple[int, ...]) -> Array | None:
        """Return the attention of one tile, or that of all on the latent's cells."""
        if len(maps) <= 1:
            return maps[0] if maps else None
        whole = np.zeros((len(maps[0]), *size), np.float32)
        for tile, attention in zip(self.tiles, maps, strict=True):
            own = enlarged(attention, tile.size) * tile.weights
            whole[:, tile.rows, tile.columns] += own
        return whole.reshape(len(whole), -1)

    def _sample(self, x: Latent, rows: Rows) -> Array:
        """Return the network's `sample`: one for all rows, or one for each."""
        channels = self.concatenated
        sample = x if channels is None else _concatenated(x, channels)
        if rows.hidden is None or channels is None:
            return sample
        hidden = _concatenated(x, np.zeros_like(channels))
        places = range(len(rows.places))
        return np.concatenate([hidden if place == rows.hidden else sample for place in places])


def _contexts(inputs: Mapping[str, Array]) -> int:
    return len(next(iter(inputs.values())))


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Append the same channels [1, D, H, W] to each of the latents [batch, C, H, W]."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
