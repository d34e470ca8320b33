"""The record in a picture: as JSON under `safelight`, exact, and as AUTOMATIC1111's text."""

import json
import math
import re
from pathlib import Path, PureWindowsPath
from typing import Any

import msgspec

from engine.api import GenerationRecord, InputRole, ResolvedRequest
from engine.api.conventions import CONVENTIONS, SdeNoise
from engine.api.limits import (
    MAX_CLIP_SKIP,
    MAX_GUIDANCE,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.api.record import RECORD_VERSION
from engine.metadata.infotext import Infotext, Parameter, format_infotext
from engine.metadata.pictures import read_text_chunks
from engine.metadata.texts import TextChunk

RECORD_KEYWORD = "safelight"
PARAMETERS_KEYWORD = "parameters"

_MAX_INPUTS = 64
_BACKEND = re.compile(r"[\w.-]{1,64}", re.ASCII)

_CHECKPOINT_SUFFIXES = frozenset({".safetensors", ".ckpt", ".pt", ".bin", ".gguf"})


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
        record = msgspec.convert(_current(json.loads(text)), GenerationRecord)
    # Malformed JSON, wrong types and numbers of too many digits are ValueErrors.
    except (ValueError, RecursionError):
        return None
    if record.version > RECORD_VERSION or not _is_possible(record.request):
        return None
    return record


# A version 1 record names its convention; the noise of steps was a plain stream then.
_VERSION_1 = {
    name.value: msgspec.to_builtins(msgspec.structs.replace(convention, sde_noise=SdeNoise.STREAM))
    for name, convention in CONVENTIONS.items()
}


def _current(decoded: Any) -> Any:
    """A record of any version in the form of the present one."""
    match decoded:
        case {"version": 1, "request": {"convention": str(name)} as request} if name in _VERSION_1:
            request = {**request, "convention": _VERSION_1[name]}
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


def record_infotext(record: GenerationRecord) -> Infotext:
    """The record in AUTOMATIC1111's terms, keys in its order."""
    request = record.request
    pairs: list[tuple[str, str | None]] = [
        ("Steps", str(request.steps)),
        ("Sampler", request.sampler.label),
        ("Schedule type", request.schedule.label),
        ("CFG scale", _number(request.guidance)),
        ("Seed", str(request.seed)),
        ("Size", f"{request.width}x{request.height}"),
        ("Model", _checkpoint_name(request.checkpoint)),
        ("VAE", request.components.vae and PureWindowsPath(request.components.vae).name),
        ("Denoising strength", _number(request.strength) if has_init(request) else None),
        ("Clip skip", str(request.clip_skip) if request.clip_skip > 1 else None),
        # Our noise is torch's CPU generator whatever the device, which the text must say.
        ("RNG", "CPU"),
        ("Version", f"Safelight {record.safelight}"),
    ]
    parameters = tuple(Parameter(key, value) for key, value in pairs if value)
    return Infotext(request.prompt, request.negative_prompt, parameters)


def has_init(request: ResolvedRequest) -> bool:
    """Whether the picture started from another one."""
    return any(image.role is InputRole.INIT for image in request.inputs)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _checkpoint_name(checkpoint: str) -> str:
    """The name of a file or folder without its suffix, whichever system wrote the path."""
    path = PureWindowsPath(checkpoint)
    return path.stem if path.suffix.lower() in _CHECKPOINT_SUFFIXES else path.name


def _is_possible(request: ResolvedRequest) -> bool:
    fractions = [request.strength, *(end for image in request.inputs for end in image.range)]
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
    )
