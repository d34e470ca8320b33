"""Image prompts in the evaluations of a denoiser: their keys and values, strengths and masks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine.graphs.image_prompts import (
    STRENGTHS,
    ImagePromptShape,
    keys_name,
    mask_name,
    values_name,
)
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.scaling import KeyWeights
from engine.image_prompts.turning import TurnedLayers

# Tells whether an image prompt acts at an evaluation, by its number from 0 and its noise level.
Acts = Callable[[int, float], bool]


class PassImagePrompt(msgspec.Struct, frozen=True, eq=False):
    """An image prompt in a pass: its strength at each layer, and its mask at each level.

    `strengths` are float32 [layers], `masks` float32 [1, cells, 1] for each tile of the latent, by
    level; none for an image prompt that acts everywhere. `key_weights` are those that act on the
    keys as well, where strengths only tell the layers in which it acts. `turned` are the layers
    that show the picture to the negative prompt; None for none.
    """

    shape: ImagePromptShape
    strengths: NDArray[np.float32]
    masks: tuple[Mapping[int, NDArray[np.float32]], ...]
    acts: Acts
    key_weights: KeyWeights | None = None
    turned: TurnedLayers | None = None

    def weighted(self, encoded: EncodedImagePrompt) -> EncodedImagePrompt:
        """Return its keys and values as the denoiser takes them."""
        if self.turned is not None:
            encoded = self.turned.turned(encoded)
        return encoded if self.key_weights is None else self.key_weights.scaled(encoded)


class PassImagePrompts(msgspec.Struct, frozen=True, eq=False):
    """The image prompts of a pass, in order."""

    prompts: tuple[PassImagePrompt, ...] = ()

    @property
    def shapes(self) -> tuple[ImagePromptShape, ...]:
        """The shapes by which the denoiser's network is chosen."""
        return tuple(prompt.shape for prompt in self.prompts)

    def masks(self, tile: int) -> dict[str, Array]:
        """Return the masks of a tile as inputs of the denoiser, by name."""
        return {
            mask_name(place, level): mask
            for place, prompt in enumerate(self.prompts)
            if prompt.masks
            for level, mask in prompt.masks[tile].items()
        }

    def strengths_at(self, evaluation: int, sigma: float) -> NDArray[np.float32]:
        """Return the strength of each image prompt at each layer, float32 [prompts, layers]."""
        return np.stack(
            [
                prompt.strengths * np.float32(prompt.acts(evaluation, sigma))
                for prompt in self.prompts
            ]
        )


NO_IMAGE_PROMPTS = PassImagePrompts()


@dataclass(slots=True, eq=False)
class ImagePromptPins:
    """Pins the inputs of image prompts in the session of a denoiser, where they change."""

    session: Session
    prompts: PassImagePrompts
    encoded: Sequence[EncodedImagePrompt]
    _negatives: tuple[bool, ...] | None = field(default=None, init=False)
    _strengths: NDArray[np.float32] | None = field(default=None, init=False)
    _tile: int | None = field(default=None, init=False)

    def pin(self, negatives: tuple[bool, ...], evaluation: int, sigma: float) -> None:
        """Pin what an evaluation needs.

        `negatives` tells of each row whether it is evaluated under the negative prompt, and so sees
        what the adapters make of no picture; the others see the pictures.
        """
        if not self.prompts.prompts:
            return
        if negatives != self._negatives:
            pairs = zip(self.prompts.prompts, self.encoded, strict=True)
            for place, (prompt, encoded) in enumerate(pairs):
                self._pin(_keys_and_values(place, prompt.weighted(encoded), negatives))
            self._negatives = negatives
        strengths = self.prompts.strengths_at(evaluation, sigma)
        if self._strengths is None or not np.array_equal(strengths, self._strengths):
            self._pin({STRENGTHS: strengths})
            self._strengths = strengths

    def pin_tile(self, tile: int) -> None:
        """Pin the masks of the tile that is seen next."""
        if tile != self._tile:
            self._pin(self.prompts.masks(tile))
            self._tile = tile

    def _pin(self, inputs: Mapping[str, Array]) -> None:
        for name, array in inputs.items():
            self.session.pin(name, array)


def _keys_and_values(
    place: int, encoded: EncodedImagePrompt, negatives: tuple[bool, ...]
) -> dict[str, Array]:
    rows = list(map(int, negatives))
    found: dict[str, Array] = {}
    for width in encoded.keys:
        found[keys_name(place, width)] = np.ascontiguousarray(encoded.keys[width][:, rows])
        found[values_name(place, width)] = np.ascontiguousarray(encoded.values[width][:, rows])
    return found
