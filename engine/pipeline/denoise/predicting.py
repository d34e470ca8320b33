"""Evaluates a denoiser at a sampler's steps, with the prompts and LoRA strengths in effect."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from backends.base import Array, Feeds, Session
from engine.api.record import ResolvedRequest
from engine.families.architecture import Conditioning, DenoiserModel
from engine.families.network_changes import ATTENTION, FREE_U_FACTORS, PERTURBED
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.pinning import NO_IMAGE_PROMPTS, ImagePromptPins, PassImagePrompts
from engine.pipeline.control.residuals import ControlInputs, ControlRun
from engine.pipeline.denoise.lora_stretches import PassLoras
from engine.pipeline.denoise.tiles import Tile, in_tiles
from engine.sampling.attention_guidance import enlarged
from engine.sampling.types import Latent
from engine.weights.side_branches import STRENGTHS, SideBranches, pin_branches

PREDICTION = "prediction"
# Runs a session once with these inputs.
Call = Callable[[Session, Feeds], dict[str, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class PromptedPicture:
    """One picture's request in a pass, its encoded prompts, and the LoRAs that act on it.

    `encoded` are the keys and values of the `image_prompts`, `references` the latents of the
    reference pictures.
    """

    request: ResolvedRequest
    conditioning: Conditioning
    loras: PassLoras
    image_prompts: PassImagePrompts = NO_IMAGE_PROMPTS
    encoded: tuple[EncodedImagePrompt, ...] = ()
    references: tuple[Latent, ...] = ()

    def inputs(self, evaluation: int, *, guided: bool) -> Mapping[str, Array]:
        """Return the denoiser's inputs for the prompts in effect at an evaluation."""
        return self.conditioning.inputs(evaluation, self.request, guided=guided)


class StretchEnded(Exception):  # noqa: N818 (part of a run, no fault)
    """Ends a stretch of a run: the next evaluation needs other weights."""


@dataclass(slots=True, eq=False)
class Answer:
    """The results of one evaluation, kept to be replayed.

    `outputs` are the predictions, `attention` that of the middle if the network shows it, and
    `again` the predictions of a second look in the same step.
    """

    outputs: Latent
    attention: Latent | None = None
    again: Latent | None = None


@dataclass(frozen=True, slots=True)
class _Rows:
    """The places of a conditioning's contexts that are evaluated in turn.

    `perturbed` is the number of the last rows, whose self-attention is perturbed; `hidden` the row
    that is evaluated without the picture that is edited, `negative` the place of the negative
    prompt's context.
    """

    places: tuple[int, ...]
    perturbed: int = 0
    hidden: int | None = None
    negative: int | None = None

    def of(self, contexts: Array) -> Array:
        """Return the rows of an input [contexts, ...]; itself if they are all, in order."""
        as_they_are = self.places == tuple(range(len(contexts)))
        return contexts if as_they_are else contexts[list(self.places)]

    @property
    def negatives(self) -> tuple[bool, ...]:
        """True for each row that is evaluated under the negative prompt."""
        return tuple(place == self.negative for place in self.places)

    @property
    def marks(self) -> Array:
        """The marks of the perturbed rows, float32 [rows, 1, 1]."""
        marks = np.zeros((len(self.places), 1, 1), np.float32)
        marks[len(marks) - self.perturbed :] = 1
        return marks


@dataclass(slots=True, eq=False)
class Predictor:
    """An `AttentivePredict`: the denoiser in `session`, with what is in effect at each evaluation.

    `asks_without_picture`: there is one more context, the last again, which is evaluated without
    the picture that is edited. `free_u`: the noise levels between which FreeU acts, if the network
    has it.
    """

    session: Session
    picture: PromptedPicture
    model: DenoiserModel
    call: Call
    # The tiles that the denoiser sees one by one; a single one is the whole latent.
    tiles: tuple[Tile, ...]
    branches: SideBranches | None = None
    concatenated: Latent | None = None
    asks_without_picture: bool = False
    control: ControlRun | None = None
    free_u: tuple[float, float] = (-math.inf, math.inf)
    # The level of the evaluation that follows.
    level: float = field(default=math.inf, init=False)
    # True while the answers of earlier stretches are replayed.
    replays: bool = field(default=False, init=False)
    _first: int = field(default=0, init=False)
    _evaluated: int = field(default=0, init=False)
    _answers: list[Answer] = field(default_factory=list[Answer], init=False)
    _latest: Answer | None = field(default=None, init=False)
    _end: int | None = field(default=None, init=False)
    _pinned: tuple[Mapping[str, Array], _Rows] | None = field(default=None, init=False)
    _factors: tuple[float, ...] | None = field(default=None, init=False)
    _strengths: tuple[float, ...] | None = field(default=None, init=False)
    _images: ImagePromptPins = field(init=False)

    def __post_init__(self) -> None:
        pin_branches(self.session, self.branches)
        picture = self.picture
        self._images = ImagePromptPins(self.session, picture.image_prompts, picture.encoded)
        size = picture.request.height, picture.request.width
        for name, array in self.model.size_inputs(*size, picture.references).items():
            self.session.pin(name, array)

    def start(self, first: int, answers: list[Answer], end: int | None) -> None:
        """Count evaluations from `first` on, and begin with the `answers` that are known.

        Where the stretch has an `end`, its last evaluation plus one, new answers are added to the
        list, and `StretchEnded` is raised there.
        """
        self._first = self._evaluated = first
        self._answers, self._end = answers, end

    def tell(self, sigma: np.float32) -> None:
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
            inputs = self.picture.inputs(evaluation, guided=guided)
            count = _contexts(inputs)
            negative = count - 1 if guided else None
            rows = _Rows((count - 1,) if guided else tuple(range(count)), negative=negative)
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
        inputs = self.picture.inputs(evaluation, guided=guided)
        rows = self._rows(_contexts(inputs), guided=guided, perturbs=perturbs)
        self._pin_strengths(evaluation)
        self._latest = self._run(x, timestep, inputs, rows)
        if self._end is not None:
            self._answers.append(self._latest)
        return self._latest

    def _rows(self, contexts: int, *, guided: bool, perturbs: bool) -> _Rows:
        places, hidden = tuple(range(contexts)), None
        if guided and self.asks_without_picture:
            # The negative prompt once more.
            places, hidden = (*places, contexts - 1), contexts
        positives = tuple(range(contexts - guided)) if perturbs else ()
        negative = contexts - 1 if guided else None
        return _Rows((*places, *positives), len(positives), hidden, negative)

    def _run(
        self, x: Latent, timestep: np.float32, inputs: Mapping[str, Array], rows: _Rows
    ) -> Answer:
        self._pin(inputs, rows)
        self._pin_factors()
        self._images.pin(rows.negatives, self._evaluated - 1, self.level)
        level = self.model.timestep_inputs(float(timestep), self.picture.request.guidance)
        maps: list[Array] = []

        def predict(tile: Tile, seen: Array) -> Array:
            self._images.pin_tile(self.tiles.index(tile))
            latents = seen[: len(x), : x.shape[1]]
            told = ControlInputs(
                self._evaluated - 1,
                self.level,
                latents,
                inputs,
                len(self.picture.conditioning.weights) * len(x),
                rows.places,
                level,
                tile if len(self.tiles) > 1 else None,
                self._branch_strengths,
            )
            residuals: Feeds = self.control.residuals(told) if self.control else {}
            found = self.call(self.session, {"sample": seen, **level, **residuals})
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

    def _pin(self, inputs: Mapping[str, Array], rows: _Rows) -> None:
        if self._pinned is not None and self._pinned[0] is inputs and self._pinned[1] == rows:
            return
        for name, contexts in inputs.items():
            self.session.pin(name, rows.of(contexts))
        if self._takes(PERTURBED):
            self.session.pin(PERTURBED, rows.marks)
        self._pinned = inputs, rows

    def _pin_factors(self) -> None:
        """Pin the factors of FreeU; outside its range all are 1."""
        if not self._takes(FREE_U_FACTORS):
            return
        acts = self.free_u[0] <= self.level <= self.free_u[1]
        own = self.picture.request.denoiser_options.freeu_factors
        factors = own if acts else (1.0,) * len(own)
        if factors != self._factors:
            self.session.pin(FREE_U_FACTORS, np.array(factors, np.float32))
            self._factors = factors

    def _takes(self, name: str) -> bool:
        return any(spec.name == name for spec in self.session.inputs)

    def _sample(self, x: Latent, rows: _Rows) -> Array:
        """Return the network's `sample`: one for all rows, or one for each."""
        channels = self.concatenated
        sample = x if channels is None else _concatenated(x, channels)
        if rows.hidden is None or channels is None:
            return sample
        hidden = _concatenated(x, np.zeros_like(channels))
        places = range(len(rows.places))
        return np.concatenate([hidden if place == rows.hidden else sample for place in places])

    @property
    def _branch_strengths(self) -> Array | None:
        """The strengths of LoRAs beside layers, as they are pinned."""
        if self.branches is None or self._strengths is None:
            return None
        return self.branches.strengths(self._strengths)

    def _pin_strengths(self, evaluation: int) -> None:
        if self.branches is None:
            return
        strengths = self.picture.loras.strengths_at(evaluation)
        if strengths != self._strengths:
            self.session.pin(STRENGTHS, self.branches.strengths(strengths))
            self._strengths = strengths


def _contexts(inputs: Mapping[str, Array]) -> int:
    return len(next(iter(inputs.values())))


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Append the same channels [1, D, H, W] to each of the latents [batch, C, H, W]."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
