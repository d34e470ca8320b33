"""JSON of unknown form as its readers want it: what is malformed, or something else, is empty."""

from collections.abc import Mapping
from typing import cast

from engine.untrusted_json import JsonError, decode_any


def parse_json(text: str) -> object:
    """The value of a JSON text; None where it is malformed, too deep or too much."""
    try:
        return decode_any(text)
    except JsonError:
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
