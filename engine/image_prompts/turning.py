"""Layers that turn a picture away: they show it to the negative prompt in place of the prompt.

Source: `ipadapter_attention` in `CrossAttentionPatch.py` of ComfyUI_IPAdapter_plus, for the weight
types "style transfer precise" and "composition precise".
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.image_prompts.encoding import EncodedImagePrompt


class TurnedLayers(msgspec.Struct, frozen=True, eq=False):
    """True for each layer that turns pictures away, bool [layers]; and the widths of the layers."""

    marks: NDArray[np.bool_]
    widths: Sequence[int]

    def turned(self, encoded: EncodedImagePrompt) -> EncodedImagePrompt:
        """Return keys and values that give the prompt zeros, and the negative prompt the picture.

        Attention to zeros adds nothing.
        """
        return EncodedImagePrompt(self._each(encoded.keys), self._each(encoded.values))

    def _each(self, made: Mapping[int, Array]) -> dict[int, Array]:
        found: dict[int, Array] = {}
        for width, array in made.items():
            marks = self.marks[np.array(self.widths) == width]
            found[width] = array.copy()
            found[width][marks, 1] = array[marks, 0]
            found[width][marks, 0] = 0
        return found
