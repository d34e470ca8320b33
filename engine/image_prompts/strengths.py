"""The strength of an image prompt at each layer of the denoiser.

The shares are those of ComfyUI_IPAdapter_plus (`ipadapter_execute`, `ipadapter_attention`); SDXL's
for style and composition are those of diffusers' `set_ip_adapter_scale` for InstantStyle, too.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.api.image_prompts import AdapterBlocks
from engine.graphs.image_prompts import AttendingLayer

# Blocks with transformers, by the number of all of them in a denoiser, with the share of the weight
# at each.
_SDXL_BLOCKS, _SD1_BLOCKS = 11, 16
_STYLE = {
    _SDXL_BLOCKS: {6: 1.0},
    _SD1_BLOCKS: dict.fromkeys((*range(4), *range(9, 16)), 1.0),
}
_COMPOSITION = {_SDXL_BLOCKS: {3: 1.0}, _SD1_BLOCKS: {4: 0.25, 5: 1.0}}
_KNOWN = frozenset(
    {
        AdapterBlocks.STYLE,
        AdapterBlocks.STRONG_STYLE,
        AdapterBlocks.COMPOSITION,
        AdapterBlocks.STYLE_AND_COMPOSITION,
        AdapterBlocks.STYLE_PRECISE,
        AdapterBlocks.COMPOSITION_PRECISE,
    }
)
# The least share where the weight rises or falls from block to block, and that of weak blocks.
_LEAST, _WEAK = 0.05, 0.2
# The share of blocks of neither style nor composition, where composition is precise.
_NEITHER = 0.1
# The share of the rise at a block, given as a share of all blocks.
_EASED: Mapping[AdapterBlocks, Callable[[float], float]] = {
    AdapterBlocks.EASE_IN: lambda place: 1 - place,
    AdapterBlocks.EASE_OUT: lambda place: place,
    AdapterBlocks.EASE_IN_OUT: lambda place: 1 - abs(2 * place - 1),
    AdapterBlocks.REVERSE_IN_OUT: lambda place: abs(2 * place - 1),
}
# The beginnings of the names of weak layers.
_WEAKENED: Mapping[AdapterBlocks, tuple[str, ...]] = {
    AdapterBlocks.WEAK_INPUT: ("down",),
    AdapterBlocks.WEAK_MIDDLE: ("mid",),
    AdapterBlocks.WEAK_OUTPUT: ("up",),
    AdapterBlocks.STRONG_MIDDLE: ("down", "up"),
}


def has_blocks(blocks: AdapterBlocks, layers: Sequence[AttendingLayer]) -> bool:
    """Tell whether it is known which blocks of a denoiser a choice means."""
    return blocks not in _KNOWN or _count(layers) in _STYLE


def layer_strengths(blocks: AdapterBlocks, layers: Sequence[AttendingLayer]) -> NDArray[np.float32]:
    """Return the share of an image prompt's weight at each layer, float32 [layers].

    A denoiser for which `has_blocks` is False has all layers alike.
    """
    count = _count(layers)
    if blocks in _EASED:
        rise = _EASED[blocks]
        shares = [_LEAST + (1 - _LEAST) * rise(layer.block / count) for layer in layers]
    elif blocks in _WEAKENED:
        weak = _WEAKENED[blocks]
        shares = [_WEAK if layer.name.startswith(weak) else 1.0 for layer in layers]
    elif blocks is AdapterBlocks.ALL or count not in _STYLE:
        shares = [1.0] * len(layers)
    else:
        known = _shares(blocks, count)
        shares = [known.get(layer.block, 0.0) for layer in layers]
    return np.array(shares, np.float32)


def turns_away(blocks: AdapterBlocks, layers: Sequence[AttendingLayer]) -> NDArray[np.bool_]:
    """Return True for each layer that shows the picture to the negative prompt alone, [layers]."""
    composition = _COMPOSITION.get(_count(layers), {})
    match blocks:
        case AdapterBlocks.STYLE_PRECISE:
            marks = [layer.block in composition for layer in layers]
        case AdapterBlocks.COMPOSITION_PRECISE:
            marks = [layer.block not in composition for layer in layers]
        case _:
            marks = [False] * len(layers)
    return np.array(marks, np.bool_)


def _shares(blocks: AdapterBlocks, count: int) -> dict[int, float]:
    """Return the shares of the blocks that make style or composition."""
    style, composition = _STYLE[count], _COMPOSITION[count]
    match blocks:
        case AdapterBlocks.STYLE:
            return style
        case AdapterBlocks.COMPOSITION:
            return composition
        case AdapterBlocks.STRONG_STYLE:
            return {block: 1.0 for block in range(count) if block not in composition}
        case AdapterBlocks.COMPOSITION_PRECISE:
            return dict.fromkeys(range(count), _NEITHER) | style | composition
        case _:
            return style | composition


def _count(layers: Sequence[AttendingLayer]) -> int:
    return max(layer.block for layer in layers) + 1 if layers else 0
