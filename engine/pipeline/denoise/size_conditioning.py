"""What SDXL is told beside time and tokens: the text as a whole, and sizes (Podell et al. 2023).

Sizes are the picture's before it was scaled for training, where it was cropped, and what was asked
for; the refiner is told how the picture looks instead of the last. Which come in which order:
diffusers `StableDiffusionXLPipeline._get_add_time_ids`.
"""

import numpy as np

from backends.base import Array
from engine.api.record import ResolvedRequest
from engine.api.request import SizeOptions
from engine.families.base import IdentifiedCheckpoint
from engine.families.shared.clip.emphasis import Vectors
from engine.graphs.unet import size_embedding
from engine.pipeline.networks import denoiser_config

_REFINER_SIZES = 5


def added_conditioning(
    checkpoint: IdentifiedCheckpoint, request: ResolvedRequest, pooled: Vectors, *, guided: bool
) -> Array:
    """The denoiser's input `added`, float32 [k, added_width], for texts [k, width].

    When guided, the last text is the negative one.
    """
    config = denoiser_config(checkpoint)
    width = (config.added_width - pooled.shape[1]) // checkpoint.told_sizes
    refines = checkpoint.told_sizes == _REFINER_SIZES
    texts = len(pooled) - guided
    rows = [size_embedding(_sizes(request, negative=False, refines=refines), width)] * texts
    if guided:
        rows.append(size_embedding(_sizes(request, negative=True, refines=refines), width))
    return np.concatenate([pooled, np.stack(rows)], axis=1).astype(np.float32, copy=False)


def _sizes(request: ResolvedRequest, *, negative: bool, refines: bool) -> tuple[float, ...]:
    """Heights before widths, tops before lefts."""
    options = request.size_options
    size = request.width, request.height
    original = _chosen(options, "original", negative) or size
    crop = _chosen(options, "crop", negative) or (0, 0)
    target = _chosen(options, "target", negative) or size
    known = (*original[::-1], *crop[::-1])
    if not refines:
        return (*known, *target[::-1])
    score = options.negative_aesthetic_score if negative else options.aesthetic_score
    return (*known, score)


def _chosen(options: SizeOptions, name: str, negative: bool) -> tuple[int, int] | None:
    """An option, of the negative prompt where it has one of its own."""
    own = getattr(options, f"negative_{name}") if negative else None
    return own if own is not None else getattr(options, name)
