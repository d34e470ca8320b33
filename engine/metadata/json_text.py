"""JSON of unknown structure: a malformed value, or one of another type, counts as empty."""

from collections.abc import Mapping
from typing import cast

from engine.untrusted_json import JsonError, decode_any


def parse_json(text: str) -> object:
    """Return the value of a JSON text; None if it is malformed, too deep or too large."""
    try:
        return decode_any(text)
    except JsonError:
        return None


def as_object(value: object) -> Mapping[str, object]:
    """Return a JSON object; empty if the value is something else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a JSON array; empty if the value is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def parse_object(text: str | None) -> Mapping[str, object]:
    """Return the object in a JSON text; empty if there is no text or it is something else."""
    return as_object(parse_json(text)) if text else {}
