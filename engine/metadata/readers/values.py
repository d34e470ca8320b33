"""A tool's values by its own keys, converted and checked for a request."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

import msgspec

from engine.api.fields import bounds_of, fields_of
from engine.api.request import GenerateRequest
from engine.api.values import SamplerName, ScheduleName
from engine.metadata.infotext import Parameter
from engine.metadata.readers.imported import ImportedRequest, left_over, refused
from engine.metadata.readers.names import COMFY_SAMPLERS, COMFY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.size_text import read_size

_SIDE = bounds_of(GenerateRequest, "width")
_SEED = bounds_of(GenerateRequest, "seed")
_STRENGTH = bounds_of(GenerateRequest, "strength")
_CLIP_SKIP = bounds_of(GenerateRequest, "clip_skip")

# More than 20 digits are out of every range here, and int() takes quadratic time.
_INTEGER = re.compile(r"[+-]?\d{1,20}(?:\.0{1,20})?", re.ASCII)
_MAX_CHARACTERS = 1000


class Values:
    """A tool's values by key: texts, as in AUTOMATIC1111's line, or of any type, as in JSON.

    Numbers may be written as text. `unmapped` lists the values that no method read. An invalid
    value is None, and `warnings` has a sentence about it.
    """

    def __init__(self, pairs: Mapping[str, object]) -> None:
        self._pairs = pairs
        self._taken: set[str] = set()
        self.warnings: list[str] = []

    def refuse(self, key: str) -> None:
        """Add a warning that a value was not taken over."""
        self.warnings.append(refused(key, _shown(self._pairs.get(key))))

    def get(self, key: str) -> object:
        """Return the value unchanged; None if there is none."""
        self._taken.add(key)
        return self._pairs.get(key)

    def skip(self, *keys: str) -> None:
        """Mark keys as handled whose values describe the picture but do not change it."""
        self._taken.update(keys)

    def text(self, key: str) -> str | None:
        """Return a text; None if there is none, or "None", which some tools write."""
        value = self.get(key)
        if isinstance(value, str):
            return value if value not in ("", "None") else None
        if value is not None:
            self.refuse(key)
        return None

    def read(self, kind: type[msgspec.Struct], **keys: str) -> dict[str, Any]:
        """Return the fields of a structure, each read under the tool's key for it.

        Each field is a text or a number, which is within the field's bounds. A missing or refused
        value is the field's default, or an empty text.
        """
        found: dict[str, Any] = {}
        for name, key in keys.items():
            field = fields_of(kind)[name]
            kinds = get_args(field.kind) or (field.kind,)
            value: str | float | None
            if str in kinds:
                value = self.text(key)
            elif float in kinds:
                value = self.number(key, *bounds_of(kind, name))
            else:
                value = self.integer(key, *bounds_of(kind, name))
            default = "" if field.default is msgspec.NODEFAULT else field.default
            found[name] = default if value is None else value
        return found

    def number(self, key: str, low: float, high: float) -> float | None:
        """Return a finite number from `low` to `high`."""
        value = self.get(key)
        if value in (None, "", "None"):
            return None
        number = _number(value)
        if low <= number <= high:
            return number
        self.refuse(key)
        return None

    def integer(self, key: str, low: float, high: float) -> int | None:
        """Return a whole number from `low` to `high`."""
        value = self.get(key)
        if value in (None, "", "None"):
            return None
        integer = _integer(value)
        if integer is not None and low <= integer <= high:
            return integer
        self.refuse(key)
        return None

    def seed(self, key: str) -> int | None:
        """Return a seed."""
        return self.integer(key, *_SEED)

    def strength(self, key: str) -> float | None:
        """Return a strength; without an init picture it has no effect."""
        return self.number(key, *_STRENGTH)

    def clip_skip(self, key: str) -> int | None:
        """Return the clip skip from a layer of CLIP counted from the end: -1 is the last."""
        place = self.integer(key, -_CLIP_SKIP.high, -_CLIP_SKIP.low)
        return None if place is None else -place

    def comfy_method(
        self, key: str, otherwise: tuple[str, str] = ("", "normal")
    ) -> tuple[SamplerName | None, ScheduleName | None]:
        """Return the sampler and schedule by ComfyUI's names, under `key` and "scheduler".

        `otherwise` are those where none is named. Unknown names are refused.
        """
        sampler = sampler_of(COMFY_SAMPLERS, self.text(key) or otherwise[0])
        schedule = schedule_of(COMFY_SCHEDULES, self.text("scheduler") or otherwise[1])
        for named, found in ((key, sampler), ("scheduler", schedule)):
            if found is None:
                self.refuse(named)
        return sampler, schedule

    def flag(self, key: str) -> bool:
        """Return True for JSON's true and the text "true"."""
        value = self.get(key)
        return value is True or (isinstance(value, str) and value.casefold() == "true")

    def sides(self, width: str, height: str) -> tuple[int | None, int | None]:
        """Return width and height in pixels, both or neither."""
        size = (self.integer(width, *_SIDE), self.integer(height, *_SIDE))
        return size if None not in size else (None, None)

    def size(self, key: str) -> tuple[int, int] | None:
        """Return width and height of a text such as `512x768`."""
        value = self.get(key)
        if value is None:
            return None
        size = read_size(value) if isinstance(value, str) else None
        if size is not None and all(_SIDE.low <= side <= _SIDE.high for side in size):
            return size
        self.refuse(key)
        return None

    def unmapped(self) -> tuple[Parameter, ...]:
        """Return the values that no method read, except empty ones."""
        left = ((key, value) for key, value in self._pairs.items() if key not in self._taken)
        return tuple(
            Parameter(key, _shown(value))
            for key, value in left
            if value not in (None, "", "None", False, [], {})
        )

    def imported(
        self, request: GenerateRequest, remarks: Iterable[str], tool: str
    ) -> ImportedRequest:
        """Return the request with its warnings; call this after all known values were read."""
        left = self.unmapped()
        warnings = (*self.warnings, *remarks, *left_over(left))
        return ImportedRequest(request, warnings, tool=tool, unmapped=left)


def _number(value: object) -> float:
    """Return a value as a number; NaN if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    # An integer may exceed the range of a float.
    except (ValueError, OverflowError):
        return math.nan


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value.partition(".")[0])
    return None


def _shown(value: object) -> str:
    """Return a value as text for a message."""
    if isinstance(value, str):
        return value[:_MAX_CHARACTERS]
    if isinstance(value, dict | list):
        return f"{len(cast('list[object]', value))} values"
    return repr(value)[:_MAX_CHARACTERS]
