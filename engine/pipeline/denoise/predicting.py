"""Evaluates a denoiser at a sampler's steps, with the prompts and LoRA strengths in effect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.families.architecture import Conditioning, DenoiserModel
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.pinning import NO_IMAGE_PROMPTS, ImagePromptPins, PassImagePrompts
from engine.pipeline.control.running import ControlInputs, ControlRun
from engine.pipeline.denoise.lora_stretches import PassLoras
from engine.pipeline.denoise.tiles import Tile, in_tiles
from engine.sampling.types import Latent
from engine.weights.side_branches import STRENGTHS, SideBranches, pin_branches

# Runs a session once with these inputs.
Call = Callable[[Session, Mapping[str, Array]], dict[str, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class PromptedPicture:
    """One picture's request in a pass, its encoded prompts, and the LoRAs that act on it.

    `encoded` are the keys and values of the `image_prompts`.
    """

    request: ResolvedRequest
    conditioning: Conditioning
    loras: PassLoras
    image_prompts: PassImagePrompts = NO_IMAGE_PROMPTS
    encoded: tuple[EncodedImagePrompt, ...] = ()

    def inputs(self, evaluation: int, *, guided: bool) -> Mapping[str, Array]:
        """Return the denoiser's inputs for the prompts in effect at an evaluation."""
        return self.conditioning.inputs(evaluation, self.request, guided=guided)


class StretchEnded(Exception):  # noqa: N818 (part of a run, no fault)
    """Ends a stretch of a run: the next evaluation needs other weights."""


@dataclass(slots=True, eq=False)
class Predictor:
    """A `Predict`: the denoiser in `session`, with what is in effect at each evaluation.

    `asks_without_picture`: there is one more context, the last again, which is evaluated without
    the picture that is edited.
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
    # True while the answers of earlier stretches are replayed.
    replays: bool = field(default=False, init=False)
    _first: int = field(default=0, init=False)
    _evaluated: int = field(default=0, init=False)
    _answers: list[Latent] = field(default_factory=list[Latent], init=False)
    _end: int | None = field(default=None, init=False)
    _pinned: Mapping[str, Array] | None = field(default=None, init=False)
    _strengths: tuple[float, ...] | None = field(default=None, init=False)
    _images: ImagePromptPins = field(init=False)

    def __post_init__(self) -> None:
        pin_branches(self.session, self.branches)
        picture = self.picture
        self._images = ImagePromptPins(self.session, picture.image_prompts, picture.encoded)

    def start(self, first: int, answers: list[Latent], end: int | None) -> None:
        """Count evaluations from `first` on, and begin with the `answers` that are known.

        Where the stretch has an `end`, its last evaluation plus one, new answers are added to the
        list, and `StretchEnded` is raised there.
        """
        self._first = self._evaluated = first
        self._answers, self._end = answers, end

    def __call__(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Return the network's predictions for latents [batch, C, H, W] at a timestep."""
        evaluation = self._evaluated
        self._evaluated += 1
        known = evaluation - self._first
        self.replays = known < len(self._answers)
        if self.replays:
            return self._answers[known]
        if self._end is not None and evaluation >= self._end:
            raise StretchEnded
        prediction = self._evaluate(x, timestep, guided, evaluation)
        if self._end is not None:
            self._answers.append(prediction)
        return prediction

    def _evaluate(self, x: Latent, timestep: np.float32, guided: bool, evaluation: int) -> Latent:
        without_picture = guided and self.asks_without_picture
        inputs = self.picture.inputs(evaluation, guided=guided)
        if inputs is not self._pinned:
            for name, rows in inputs.items():
                self.session.pin(name, _last_again(rows) if without_picture else rows)
            self._pinned = inputs
        self._pin_strengths(evaluation)
        negative = guided + without_picture
        contexts = len(next(iter(inputs.values()))) + without_picture
        self._images.pin((contexts - negative, negative), evaluation, float(timestep))
        channels = self.concatenated
        sample = x if channels is None else _concatenated(x, channels)
        if without_picture and channels is not None:
            hidden = _concatenated(x, np.zeros_like(channels))
            sample = np.concatenate([sample] * (contexts - 1) + [hidden])
        level = self.model.timestep_inputs(float(timestep), self.picture.request.guidance)
        if without_picture:
            inputs = {name: _last_again(rows) for name, rows in inputs.items()}

        def predict(tile: Tile, seen: Array) -> Array:
            self._images.pin_tile(self.tiles.index(tile))
            latents = seen[: len(x), : x.shape[1]]
            residuals = self._residuals(latents, level, inputs, (evaluation, float(timestep)), tile)
            return self.call(self.session, {"sample": seen, **level, **residuals})["prediction"]

        return in_tiles(self.tiles, sample, predict)

    def _residuals(
        self,
        x: Latent,
        level: Mapping[str, Array],
        texts: Mapping[str, Array],
        at: tuple[int, float],
        tile: Tile,
    ) -> Mapping[str, Array]:
        """Return the residuals of control networks for latents at an evaluation and a timestep."""
        if self.control is None:
            return {}
        positives = len(self.picture.conditioning.weights) * len(x)
        part = tile if len(self.tiles) > 1 else None
        return self.control.residuals(ControlInputs(*at, x, texts, positives, level, part))

    def _pin_strengths(self, evaluation: int) -> None:
        if self.branches is None:
            return
        strengths = self.picture.loras.strengths_at(evaluation)
        if strengths != self._strengths:
            self.session.pin(STRENGTHS, self.branches.strengths(strengths))
            self._strengths = strengths


def _last_again(rows: Array) -> Array:
    """Repeat the last row, the negative prompt's, for the evaluation without the picture."""
    return np.concatenate([rows, rows[-1:]])


def _concatenated(x: Latent, channels: Latent) -> Latent:
    """Append the same channels [1, D, H, W] to each of the latents [batch, C, H, W]."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)
