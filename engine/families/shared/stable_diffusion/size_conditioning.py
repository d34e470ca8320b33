"""Time ids: the sizes that SDXL's denoisers take besides time and text (Podell et al. 2023).

SDXL's time ids are the original size of the picture, the crop and the target size; the refiner's
have an aesthetic score instead of the target size. The order is that of diffusers'
`StableDiffusionXLPipeline._get_add_time_ids`.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec
import numpy as np

from backends.base import Array
from engine.api.record import ResolvedRequest
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import config_of
from engine.families.shared.prompts.emphasis import Embeddings
from engine.graphs.unet import UNetConfig, size_embedding


class TimeIdsOf(Protocol):
    """A function from a request to its time ids."""

    def __call__(self, request: ResolvedRequest, *, negative: bool) -> tuple[float, ...]:
        """Return the time ids for the positive prompt, or for the negative one."""
        ...


class TimeIds(msgspec.Struct, frozen=True):
    """The time ids of a family's UNet: their number, and the function from a request to them."""

    count: int
    of: TimeIdsOf


def _sdxl_time_ids(request: ResolvedRequest, *, negative: bool) -> tuple[float, ...]:
    """Return original size, crop and target size; height before width, top before left."""
    options = request.size_options
    own = options.negative_target if negative else None
    target = own or options.target or (request.width, request.height)
    return (*_original_and_crop(request, negative=negative), *target[::-1])


def _refiner_time_ids(request: ResolvedRequest, *, negative: bool) -> tuple[float, ...]:
    """Return original size, crop and aesthetic score; height before width, top before left."""
    options = request.size_options
    score = options.negative_aesthetic_score if negative else options.aesthetic_score
    return (*_original_and_crop(request, negative=negative), score)


def _original_and_crop(request: ResolvedRequest, *, negative: bool) -> tuple[float, ...]:
    options = request.size_options
    original = options.negative_original if negative else None
    original = original or options.original or (request.width, request.height)
    crop = (options.negative_crop if negative else None) or options.crop or (0, 0)
    return (*original[::-1], *crop[::-1])


SDXL_TIME_IDS = TimeIds(6, _sdxl_time_ids)
REFINER_TIME_IDS = TimeIds(5, _refiner_time_ids)


class SizeConditioning(msgspec.Struct, frozen=True):
    """Makes the UNet's input `added`, float32 [contexts, added_width]: pooled text, then time ids.

    The time ids are embedded as sinusoids.
    """

    checkpoint: IdentifiedCheckpoint
    time_ids: TimeIds

    def __call__(
        self, request: ResolvedRequest, pooled: Embeddings, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return the input for pooled texts [contexts, width]; the last is negative if guided."""
        config = config_of(self.checkpoint, Component.DENOISER, UNetConfig)
        positive = self.time_ids.of(request, negative=False)
        width = (config.added_width - pooled.shape[1]) // self.time_ids.count
        rows = [size_embedding(positive, width)] * (len(pooled) - guided)
        if guided:
            rows.append(size_embedding(self.time_ids.of(request, negative=True), width))
        joined = np.concatenate([pooled, np.stack(rows)], axis=1)
        return {"added": joined.astype(np.float32, copy=False)}
