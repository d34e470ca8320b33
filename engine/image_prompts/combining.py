"""Several pictures of one image prompt as one: ComfyUI_IPAdapter_plus's "combine_embeds".

Source: `ipadapter_execute` in `IPAdapterPlus.py`.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from backends.base import Array
from engine.api.image_prompts import PictureCombination
from engine.image_prompts.encoding import EncodedImagePrompt


def combined(views: Sequence[Array], way: PictureCombination) -> list[Array]:
    """Return what the adapter is shown of several pictures, each [2, ...] as `encoding.seen`.

    One array unless tokens are joined by `joined` afterwards. What is seen without a picture is
    that of the first.
    """
    if way is PictureCombination.CONCAT or len(views) == 1:
        return list(views)
    pictures = np.stack([view[0] for view in views])
    return [np.stack([_WAYS[way](pictures), views[0][1]])]


def joined(encoded: Sequence[EncodedImagePrompt]) -> EncodedImagePrompt:
    """Return the tokens of several pictures as those of one."""
    if len(encoded) == 1:
        return encoded[0]
    widths = encoded[0].keys
    return EncodedImagePrompt(
        {
            width: np.concatenate([prompt.keys[width] for prompt in encoded], axis=2)
            for width in widths
        },
        {
            width: np.concatenate([prompt.values[width] for prompt in encoded], axis=2)
            for width in widths
        },
    )


def _less_the_others(pictures: Array) -> Array:
    return pictures[0] - pictures[1:].mean(axis=0)


def _norm_average(pictures: Array) -> Array:
    """Return the mean of normed numbers; one that is zero in all pictures stays zero."""
    norms = np.linalg.norm(pictures, axis=0, keepdims=True)
    return (pictures / np.where(norms == 0, 1, norms)).mean(axis=0).astype(pictures.dtype)


_WAYS: Mapping[PictureCombination, Callable[[Array], Array]] = {
    PictureCombination.ADD: lambda pictures: pictures.sum(axis=0),
    PictureCombination.SUBTRACT: _less_the_others,
    PictureCombination.AVERAGE: lambda pictures: pictures.mean(axis=0),
    PictureCombination.NORM_AVERAGE: _norm_average,
}
