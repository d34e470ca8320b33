"""The strength of an image prompt at each layer of the denoiser."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.api.image_prompts import AdapterBlocks
from engine.graphs.image_prompts import AttendingLayer

# Blocks with transformers, by the number of all of them in a denoiser, with the share of the weight
# at each. SDXL's are those of diffusers' `set_ip_adapter_scale` for InstantStyle, too; SD 1's are
# ComfyUI_IPAdapter_plus's (`ipadapter_execute`).
_SDXL_BLOCKS, _SD1_BLOCKS = 11, 16
_STYLE = {
    _SDXL_BLOCKS: {6: 1.0},
    _SD1_BLOCKS: dict.fromkeys((*range(4), *range(9, 16)), 1.0),
}
_COMPOSITION = {_SDXL_BLOCKS: {3: 1.0}, _SD1_BLOCKS: {4: 0.25, 5: 1.0}}


def has_blocks(layers: Sequence[AttendingLayer]) -> bool:
    """Tell whether style and composition have blocks of their own in a denoiser."""
    return _count(layers) in _STYLE


def layer_strengths(blocks: AdapterBlocks, layers: Sequence[AttendingLayer]) -> NDArray[np.float32]:
    """Return the share of an image prompt's weight at each layer, float32 [layers].

    A denoiser for which `has_blocks` is False has all layers alike.
    """
    count = _count(layers)
    if blocks is AdapterBlocks.ALL or count not in _STYLE:
        return np.ones(len(layers), np.float32)
    shares: dict[int, float] = {}
    if blocks is not AdapterBlocks.COMPOSITION:
        shares |= _STYLE[count]
    if blocks is not AdapterBlocks.STYLE:
        shares |= _COMPOSITION[count]
    return np.array([shares.get(layer.block, 0.0) for layer in layers], np.float32)


def _count(layers: Sequence[AttendingLayer]) -> int:
    return max(layer.block for layer in layers) + 1 if layers else 0
