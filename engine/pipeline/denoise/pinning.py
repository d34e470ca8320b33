"""The inputs of a denoiser that stay from one evaluation to the next, pinned where they change."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.families.architecture import Conditioning, DenoiserModel
from engine.families.network_changes import FREE_U_FACTORS, PERTURBED
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.pinning import NO_IMAGE_PROMPTS, ImagePromptPins, PassImagePrompts
from engine.pipeline.denoise.lora_stretches import PassLoras
from engine.sampling.types import Latent
from engine.weights.side_branches import STRENGTHS, SideBranches, pin_branches


class PromptedPicture(msgspec.Struct, frozen=True, eq=False):
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


class Rows(msgspec.Struct, frozen=True):
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
class DenoiserPins:
    """Pins what a picture gives the denoiser in `session` beside samples and timesteps.

    `branches` are LoRAs beside its layers; `free_u` are the noise levels between which FreeU acts,
    if the network has it.
    """

    session: Session
    picture: PromptedPicture
    model: DenoiserModel
    branches: SideBranches | None = None
    free_u: tuple[float, float] = (-math.inf, math.inf)
    _pinned: tuple[Mapping[str, Array], Rows] | None = field(default=None, init=False)
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

    def pin(self, inputs: Mapping[str, Array], rows: Rows, evaluation: int, level: float) -> None:
        """Pin what an evaluation at a noise level needs; `inputs` are those of the prompts."""
        self._pin_texts(inputs, rows)
        self._pin_factors(level)
        self._images.pin(rows.negatives, evaluation, level)

    def pin_tile(self, number: int) -> None:
        """Pin what the tile of this number needs."""
        self._images.pin_tile(number)

    def pin_strengths(self, evaluation: int) -> None:
        """Pin the strengths of LoRAs beside layers."""
        if self.branches is None:
            return
        strengths = self.picture.loras.strengths_at(evaluation)
        if strengths != self._strengths:
            self.session.pin(STRENGTHS, self.branches.strengths(strengths))
            self._strengths = strengths

    @property
    def branch_strengths(self) -> Array | None:
        """The strengths of LoRAs beside layers, as they are pinned."""
        if self.branches is None or self._strengths is None:
            return None
        return self.branches.strengths(self._strengths)

    def _pin_texts(self, inputs: Mapping[str, Array], rows: Rows) -> None:
        if self._pinned is not None and self._pinned[0] is inputs and self._pinned[1] == rows:
            return
        for name, contexts in inputs.items():
            self.session.pin(name, rows.of(contexts))
        if self._takes(PERTURBED):
            self.session.pin(PERTURBED, rows.marks)
        self._pinned = inputs, rows

    def _pin_factors(self, level: float) -> None:
        """Pin the factors of FreeU; outside its range all are 1."""
        if not self._takes(FREE_U_FACTORS):
            return
        acts = self.free_u[0] <= level <= self.free_u[1]
        own = self.picture.request.denoiser_options.freeu_factors
        factors = own if acts else (1.0,) * len(own)
        if factors != self._factors:
            self.session.pin(FREE_U_FACTORS, np.array(factors, np.float32))
            self._factors = factors

    def _takes(self, name: str) -> bool:
        return any(spec.name == name for spec in self.session.inputs)
