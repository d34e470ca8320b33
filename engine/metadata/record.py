"""The record in a picture: exact as JSON under `safelight`, and as AUTOMATIC1111's text."""

import json
import re
from typing import Any

import msgspec

from engine.api import ConventionName, GenerationRecord, ResolvedRequest
from engine.api.bounds import bounded
from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import SdeNoise
from engine.api.prompt_rules import TextCleaning
from engine.api.record import RECORD_VERSION
from engine.metadata.infotext import format_infotext
from engine.metadata.json_text import parse_json
from engine.metadata.record_text import record_infotext
from engine.metadata.texts import PARAMETERS_KEYWORD, RECORD_KEYWORD, TextChunk
from engine.plain_text import is_plain

_BACKEND = re.compile(r"[\w.-]{1,64}", re.ASCII)


def record_chunks(record: GenerationRecord) -> tuple[TextChunk, ...]:
    """Return the text chunks for a picture: AUTOMATIC1111's text, then our own record."""
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
    """Read a record; None if it is damaged, from a later version, or has impossible values."""
    try:
        decoded = _completed(_cleaned(_current(parse_json(text))))
        record = msgspec.convert(decoded, GenerationRecord)
    except msgspec.ValidationError:
        return None
    if record.version > RECORD_VERSION or not _is_possible(record.request):
        return None
    return record


# A version 1 record names its convention; the noise of SDE steps was a plain stream then.
_VERSION_1 = {
    name.value: msgspec.to_builtins(msgspec.structs.replace(convention, sde_noise=SdeNoise.STREAM))
    for name, convention in CONVENTIONS.items()
}
# Convention fields that a record of version 2 or 3 lacks have the values of its tool.
_HABITS = {name.value: msgspec.to_builtins(habits) for name, habits in CONVENTIONS.items()}
for _habits in (*_VERSION_1.values(), *_HABITS.values()):
    del _habits["text_cleaning"], _habits["network_tags"]
    del _habits["control"], _habits["image_prompting"]
# Older records of version 4 lack these fields; their values are those of the tool, too.
_LATER = {
    name.value: {
        "network_tags": convention.network_tags.value,
        "control": msgspec.to_builtins(convention.control),
        "image_prompting": convention.image_prompting.value,
    }
    for name, convention in CONVENTIONS.items()
}


def _current(decoded: Any) -> Any:
    """Return a decoded record of any version in the current version's form."""
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


def _cleaned(decoded: Any) -> Any:
    """Return the record with `text_cleaning`, which older records lack.

    Their texts were not cleaned; a record whose texts cleaning would not change gets its tool's
    default.
    """
    match decoded:
        case {
            "request": {
                "convention": {"name": str(name), **habits},
                "prompt": str(prompt),
                "negative_prompt": str(negative),
            } as request
        } if name in _HABITS and "text_cleaning" not in habits:
            usual = CONVENTIONS[ConventionName(name)].text_cleaning
            matters = not (is_plain(prompt) and is_plain(negative))
            cleaning = TextCleaning.NONE if matters else usual
            convention = {"name": name, **habits, "text_cleaning": cleaning.value}
            return {**decoded, "request": {**request, "convention": convention}}
        case _:
            return decoded


def _completed(decoded: Any) -> Any:
    """Return the record with the fields of a convention that were added since it was written."""
    match decoded:
        case {"request": {"convention": {"name": str(name)} as habits} as request} if (
            name in _LATER
        ):
            convention = {**_LATER[name], **habits}
            return {**decoded, "request": {**request, "convention": convention}}
        case _:
            return decoded


def find_record(chunks: tuple[TextChunk, ...]) -> GenerationRecord | None:
    """Return the first valid record among a picture's text chunks; None if there is none."""
    found = (decode_record(chunk.text) for chunk in chunks if chunk.keyword == RECORD_KEYWORD)
    return next((record for record in found if record is not None), None)


def _is_possible(request: ResolvedRequest) -> bool:
    """True if the backend's name is well-formed and all numbers are within their bounds."""
    is_named = _BACKEND.fullmatch(request.backend) is not None
    return is_named and all(number.is_within for number in bounded(request))
