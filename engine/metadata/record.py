"""The record in a picture: as JSON under `safelight`, exact, and as AUTOMATIC1111's text."""

import json
import math
import re
from pathlib import Path
from typing import Any

import msgspec

from engine.api import GenerationRecord, ResolvedRequest
from engine.api.conventions import CONVENTIONS, SdeNoise
from engine.api.limits import (
    MAX_BATCH_INDEX,
    MAX_CLIP_SKIP,
    MAX_FEATHER,
    MAX_GUIDANCE,
    MAX_MASK_BLUR,
    MAX_MASK_PADDING,
    MAX_SCORE,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MAX_TOLD_SIZE,
    MIN_SIDE,
)
from engine.api.masks import MaskOptions
from engine.api.record import RECORD_VERSION
from engine.api.request import SizeOptions
from engine.metadata.infotext import format_infotext
from engine.metadata.json_text import parse_json
from engine.metadata.pictures import read_text_chunks
from engine.metadata.record_text import record_infotext
from engine.metadata.texts import TextChunk

RECORD_KEYWORD = "safelight"
PARAMETERS_KEYWORD = "parameters"

_MAX_INPUTS = 64
_MAX_OPTION = 10_000.0
_BACKEND = re.compile(r"[\w.-]{1,64}", re.ASCII)


def record_chunks(record: GenerationRecord) -> tuple[TextChunk, ...]:
    """The text chunks that go into a picture: the common text first, then our own."""
    return (
        TextChunk(PARAMETERS_KEYWORD, format_infotext(record_infotext(record))),
        TextChunk(RECORD_KEYWORD, encode_record(record)),
    )


def encode_record(record: GenerationRecord) -> str:
    """Write a record as JSON in ASCII.

    Escapes keep what UTF-8 cannot: the lone surrogates of a file name that is not UTF-8.
    """
    return json.dumps(msgspec.to_builtins(record), ensure_ascii=True, separators=(",", ":"))


def decode_record(text: str) -> GenerationRecord | None:
    """Read a record; None if it is damaged, from a later version, or asks for the impossible."""
    try:
        record = msgspec.convert(_current(parse_json(text)), GenerationRecord)
    except msgspec.ValidationError:
        return None
    if record.version > RECORD_VERSION or not _is_possible(record.request):
        return None
    return record


# A version 1 record names its convention; the noise of steps was a plain stream then.
_VERSION_1 = {
    name.value: msgspec.to_builtins(msgspec.structs.replace(convention, sde_noise=SdeNoise.STREAM))
    for name, convention in CONVENTIONS.items()
}
# What a later record has no habits for is as its tool has it.
_HABITS = {name.value: msgspec.to_builtins(habits) for name, habits in CONVENTIONS.items()}


def _current(decoded: Any) -> Any:
    """A record of any version in the form of the present one."""
    match decoded:
        case {"version": 1, "request": {"convention": str(name)} as request} if name in _VERSION_1:
            request = {**request, "convention": _VERSION_1[name]}
            return {**decoded, "version": RECORD_VERSION, "request": request}
        case {
            "version": 2 | 3,
            "request": {"convention": {"name": str(name)} as habits} as request,
        } if name in _HABITS:
            request = {**request, "convention": {**_HABITS[name], **habits}}
            return {**decoded, "version": RECORD_VERSION, "request": request}
        case _:
            return decoded


def read_record(path: Path) -> GenerationRecord | None:
    """Return the record of a PNG file that we wrote, None if there is none.

    Raises INPUT_IMAGE_UNREADABLE if the file cannot be read or is no PNG.
    """
    return find_record(read_text_chunks(path))


def find_record(chunks: tuple[TextChunk, ...]) -> GenerationRecord | None:
    """The first valid record among the text chunks of a picture."""
    found = (decode_record(chunk.text) for chunk in chunks if chunk.keyword == RECORD_KEYWORD)
    return next((record for record in found if record is not None), None)


def _is_possible(request: ResolvedRequest) -> bool:
    fractions = [
        request.strength,
        request.refiner.switch_at if request.refiner else 0.0,
        *(end for image in request.inputs for end in image.range),
    ]
    return (
        all(MIN_SIDE <= side <= MAX_SIDE for side in (request.width, request.height))
        and 1 <= request.steps <= MAX_STEPS
        and 0 <= request.guidance <= MAX_GUIDANCE
        and 0 <= request.seed <= MAX_SEED
        and 1 <= request.clip_skip <= MAX_CLIP_SKIP
        and len(request.inputs) <= _MAX_INPUTS
        and all(0 <= fraction <= 1 for fraction in fractions)
        and all(math.isfinite(image.weight) for image in request.inputs)
        and _BACKEND.fullmatch(request.backend) is not None
        and len(request.convention.discards_next_to_last) <= _MAX_INPUTS
        and _are_possible_options(request)
        and _are_possible_sizes(request.size_options)
        and _is_possible_mask(request.mask_options)
    )


def _are_possible_options(request: ResolvedRequest) -> bool:
    seeds, guidance = request.seed_options, request.guidance_options
    options = (request.sampler_options, request.schedule_options)
    numbers = (value for one in options for value in msgspec.structs.astuple(one))
    fractions = (seeds.variation_strength, guidance.rescale, *guidance.range)
    image_guidance = guidance.image_guidance or 0
    return (
        all(value is None or 0 <= value <= _MAX_OPTION for value in numbers)
        and all(0 <= fraction <= 1 for fraction in fractions)
        and 0 <= image_guidance <= MAX_GUIDANCE
        and 0 <= (seeds.variation_seed or 0) <= MAX_SEED
        and abs(seeds.eta_seed_delta) <= MAX_SEED
        and 0 <= seeds.batch_index <= MAX_BATCH_INDEX
        and all(MIN_SIDE <= side <= MAX_SIDE for side in seeds.resize_from or ())
    )


def _is_possible_mask(options: MaskOptions) -> bool:
    return (
        0 <= (options.blur or 0) <= MAX_MASK_BLUR
        and 0 <= options.padding <= MAX_MASK_PADDING
        and 0 <= options.feather <= MAX_FEATHER
        and all(0 <= margin <= MAX_SIDE for margin in options.expand)
    )


def _are_possible_sizes(options: SizeOptions) -> bool:
    pairs = (
        *(options.original, options.crop, options.target),
        *(options.negative_original, options.negative_crop, options.negative_target),
    )
    scores = (options.aesthetic_score, options.negative_aesthetic_score)
    return all(0 <= side <= MAX_TOLD_SIZE for pair in pairs if pair for side in pair) and all(
        0 <= score <= MAX_SCORE for score in scores
    )
