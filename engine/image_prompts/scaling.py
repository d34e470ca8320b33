"""Weights that act on the keys of an image prompt: ComfyUI_IPAdapter_plus's "embeds_scaling".

Source: `ipadapter_attention` in `CrossAttentionPatch.py`. Keys and values are inputs of the
denoiser and stay the same for a run, so they are multiplied once.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.api.image_prompts import AdapterScaling
from engine.image_prompts.encoding import EncodedImagePrompt

# The width of a layer at which the penalty for narrow ones ends.
_FULL_WIDTH = 1280


class KeyWeights(msgspec.Struct, frozen=True, eq=False):
    """The weight of an image prompt at each layer, float32 [layers], and what it multiplies.

    `widths` are those of the layers.
    """

    scaling: AdapterScaling
    weights: NDArray[np.float32]
    widths: Sequence[int]

    def scaled(self, encoded: EncodedImagePrompt) -> EncodedImagePrompt:
        """Return keys and values times the weights."""
        keys = {width: keys * self._of(width) for width, keys in encoded.keys.items()}
        values = {width: self._values(values, width) for width, values in encoded.values.items()}
        return EncodedImagePrompt(keys, values)

    def _values(self, values: Array, width: int) -> Array:
        weight = self._of(width)
        if self.scaling is not AdapterScaling.KEYS_AND_MEAN_BY_WIDTH:
            return values * weight
        mean = values.mean(axis=2, keepdims=True)
        return (values - mean) + mean * weight

    def _of(self, width: int) -> NDArray[np.float32]:
        """Return the weights of the layers of a width, [layers, 1, 1, 1]."""
        weights = self.weights[np.array(self.widths) == width].reshape(-1, 1, 1, 1)
        if self.scaling is AdapterScaling.KEYS_AND_VALUES:
            return weights
        return weights * np.float32(width / _FULL_WIDTH)
