"""How large each number of a request may be: the one list for who accepts and who reads back.

What is accepted here makes a record that can be read; what a record says beyond it is none of ours.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from engine.api.limits import (
    MAX_BATCH_INDEX,
    MAX_CLIP_SKIP,
    MAX_CONVENTION_SAMPLERS,
    MAX_FEATHER,
    MAX_GUIDANCE,
    MAX_INPUTS,
    MAX_MASK_BLUR,
    MAX_MASK_PADDING,
    MAX_OPTION,
    MAX_PROMPT_CHARACTERS,
    MAX_SCORE,
    MAX_SEED,
    MAX_SEED_DELTA,
    MAX_SIDE,
    MAX_STEPS,
    MAX_TOLD_SIZE,
    MIN_SIDE,
    MIN_VAE_TILE,
)
from engine.api.masks import MaskOptions
from engine.api.record import ResolvedRequest
from engine.api.request import GuidanceOptions, SeedOptions, SizeOptions


class Bounded(NamedTuple):
    """A number of a request by the name people know it by, and its bounds, which it may have."""

    name: str
    value: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether it is a number between them."""
        return self.low <= self.value <= self.high


def bounded(request: ResolvedRequest) -> Iterator[Bounded]:
    """Every number of a request that is chosen."""
    yield Bounded("width", request.width, MIN_SIDE, MAX_SIDE)
    yield Bounded("height", request.height, MIN_SIDE, MAX_SIDE)
    yield Bounded("number of steps", request.steps, 1, MAX_STEPS)
    yield Bounded("guidance", request.guidance, 0, MAX_GUIDANCE)
    yield Bounded("strength", request.strength, 0, 1)
    yield Bounded("seed", request.seed, 0, MAX_SEED)
    yield Bounded("clip skip", request.clip_skip, 1, MAX_CLIP_SKIP)
    if request.vae_tile is not None:
        yield Bounded("tile of the VAE", request.vae_tile, MIN_VAE_TILE, MAX_SIDE)
    if request.refiner is not None:
        yield Bounded("refiner's start", request.refiner.switch_at, 0, 1)
    habits = len(request.convention.discards_next_to_last)
    yield Bounded("number of discards_next_to_last", habits, 0, MAX_CONVENTION_SAMPLERS)
    yield from _of_options(request)
    yield from _of_seeds(request.seed_options)
    yield from _of_guidance(request.guidance_options)
    yield from _of_sizes(request.size_options)
    yield from bounded_mask(request.mask_options)
    yield from _of_inputs(request)
    yield from _of_texts(request)


def bounded_mask(options: MaskOptions) -> Iterator[Bounded]:
    """Every number of what is said of a mask."""
    yield Bounded("blur of the mask", options.blur or 0, 0, MAX_MASK_BLUR)
    yield Bounded("padding of the mask", options.padding, 0, MAX_MASK_PADDING)
    yield Bounded("feather", options.feather, 0, MAX_FEATHER)
    for margin in options.expand:
        yield Bounded("margin", margin, 0, MAX_SIDE)


def _of_options(request: ResolvedRequest) -> Iterator[Bounded]:
    for options in (request.sampler_options, request.schedule_options):
        for name, value in msgspec.structs.asdict(options).items():
            if value is not None:
                yield Bounded(name, value, 0, MAX_OPTION)


def _of_seeds(options: SeedOptions) -> Iterator[Bounded]:
    yield Bounded("variation strength", options.variation_strength, 0, 1)
    yield Bounded("variation seed", options.variation_seed or 0, 0, MAX_SEED)
    for side in options.resize_from or ():
        yield Bounded("side of the seed's size", side, MIN_SIDE, MAX_SIDE)
    yield Bounded("eta seed delta", options.eta_seed_delta, -MAX_SEED_DELTA, MAX_SEED_DELTA)
    yield Bounded("batch index", options.batch_index, 0, MAX_BATCH_INDEX)
    yield Bounded("batch size", options.batch_size, 1, MAX_BATCH_INDEX + 1)


def _of_guidance(options: GuidanceOptions) -> Iterator[Bounded]:
    yield Bounded("guidance rescale", options.rescale, 0, 1)
    yield Bounded("image guidance", options.image_guidance or 0, 0, MAX_GUIDANCE)
    start, end = options.range
    yield Bounded("end of guidance", end, 0, 1)
    yield Bounded("start of guidance", start, 0, end)


def _of_sizes(options: SizeOptions) -> Iterator[Bounded]:
    """Of what SDXL is told."""
    pairs = {
        "original size": options.original,
        "crop": options.crop,
        "target size": options.target,
        "negative original size": options.negative_original,
        "negative crop": options.negative_crop,
        "negative target size": options.negative_target,
    }
    for name, pair in pairs.items():
        for side in pair or ():
            yield Bounded(f"side of the {name}", side, 0, MAX_TOLD_SIZE)
    yield Bounded("aesthetic score", options.aesthetic_score, 0, MAX_SCORE)
    yield Bounded("negative aesthetic score", options.negative_aesthetic_score, 0, MAX_SCORE)


def _of_inputs(request: ResolvedRequest) -> Iterator[Bounded]:
    yield Bounded("number of pictures", len(request.inputs), 0, MAX_INPUTS)
    for image in request.inputs:
        yield Bounded("weight of a picture", image.weight, -MAX_OPTION, MAX_OPTION)
        for end in image.range:
            yield Bounded("range of a picture", end, 0, 1)


def _of_texts(request: ResolvedRequest) -> Iterator[Bounded]:
    texts = {
        "length of the prompt": request.prompt,
        "length of the negative prompt": request.negative_prompt,
        "length of the prompt's template": request.prompt_template or "",
        "length of the negative prompt's template": request.negative_template or "",
    }
    for name, text in texts.items():
        yield Bounded(name, len(text), 0, MAX_PROMPT_CHARACTERS)
