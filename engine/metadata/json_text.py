"""JSON of unknown origin, read in bounded memory: a megabyte of `[]` would become a hundred."""

import json
import re
from collections.abc import Mapping
from typing import cast

# Brackets, commas, numbers: all that is not inside a string. ComfyUI's largest graphs have some
# hundred kilobytes of it.
MAX_STRUCTURE = 1 << 20
# Possessive, and never failing, so that it takes linear time; a string may lack its end.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def parse_json(text: str) -> object:
    """The value of a JSON text; None where it is malformed, too deep or too much.

    Numbers may be NaN or infinite, and text may hold lone surrogates: tools write them.
    """
    if len(text) > MAX_STRUCTURE:
        strings = sum(found.end() - found.start() for found in _STRING.finditer(text))
        if len(text) - strings > MAX_STRUCTURE:
            return None
    try:
        return json.loads(text)
    # Malformed JSON and numbers of too many digits are ValueErrors.
    except (ValueError, RecursionError):
        return None


def as_object(value: object) -> Mapping[str, object]:
    """A JSON object; empty where the value is something else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """A JSON array; empty where the value is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def parse_object(text: str | None) -> Mapping[str, object]:
    """The object a JSON text holds; empty where there is no text or it holds something else."""
    return as_object(parse_json(text)) if text else {}
