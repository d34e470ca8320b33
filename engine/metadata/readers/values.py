"""A tool's values by its own keys, read as what a request needs: checked, counted, remembered."""

import math
import re
from collections.abc import Mapping
from typing import cast

from engine.api.limits import MAX_SEED, MAX_SIDE, MIN_SIDE
from engine.metadata.infotext import Parameter
from engine.metadata.readers.imported import refused
from engine.metadata.size_text import read_size

# More than 20 digits are out of any range here, and int() is quadratic.
_INTEGER = re.compile(r"[+-]?\d{1,20}(?:\.0{1,20})?", re.ASCII)
_MAX_CHARACTERS = 1000


class Values:
    """Values that are text, as in AUTOMATIC1111's line, or of any type, as in JSON.

    Numbers may be written as text. What was asked for is taken; `unmapped` tells what nobody asked
    for. A value that is no possible answer is None, and `warnings` has a sentence about it.
    """

    def __init__(self, pairs: Mapping[str, object]) -> None:
        self._pairs = pairs
        self._taken: set[str] = set()
        self.warnings: list[str] = []

    def refuse(self, key: str) -> None:
        """Say that a value was not taken over."""
        self.warnings.append(refused(key, _shown(self._pairs.get(key))))

    def get(self, key: str) -> object:
        """The value as it is; None where there is none."""
        self._taken.add(key)
        return self._pairs.get(key)

    def skip(self, *keys: str) -> None:
        """Leave values that describe the picture and do not change it."""
        self._taken.update(keys)

    def text(self, key: str) -> str | None:
        """A text; None where there is none, or "None", as some tools write it."""
        value = self.get(key)
        if isinstance(value, str):
            return value if value not in ("", "None") else None
        if value is not None:
            self.refuse(key)
        return None

    def number(self, key: str, low: float, high: float) -> float | None:
        """A finite number from `low` to `high`."""
        value = self.get(key)
        if value in (None, "", "None"):
            return None
        number = _number(value)
        if low <= number <= high:
            return number
        self.refuse(key)
        return None

    def integer(self, key: str, low: int, high: int) -> int | None:
        """A whole number from `low` to `high`."""
        value = self.get(key)
        if value in (None, "", "None"):
            return None
        integer = _integer(value)
        if integer is not None and low <= integer <= high:
            return integer
        self.refuse(key)
        return None

    def seed(self, key: str) -> int | None:
        """A seed."""
        return self.integer(key, 0, MAX_SEED)

    def flag(self, key: str) -> bool:
        """Whether a value is true, as JSON or as text."""
        value = self.get(key)
        return value is True or (isinstance(value, str) and value.casefold() == "true")

    def sides(self, width: str, height: str) -> tuple[int | None, int | None]:
        """Width and height in pixels, both or neither."""
        size = (self.integer(width, MIN_SIDE, MAX_SIDE), self.integer(height, MIN_SIDE, MAX_SIDE))
        return size if None not in size else (None, None)

    def size(self, key: str) -> tuple[int, int] | None:
        """Width and height from text such as `512x768`."""
        value = self.get(key)
        if value is None:
            return None
        size = read_size(value) if isinstance(value, str) else None
        if size is not None and all(MIN_SIDE <= side <= MAX_SIDE for side in size):
            return size
        self.refuse(key)
        return None

    def unmapped(self) -> tuple[Parameter, ...]:
        """What nobody asked for and has a value."""
        left = ((key, value) for key, value in self._pairs.items() if key not in self._taken)
        return tuple(
            Parameter(key, _shown(value))
            for key, value in left
            if value not in (None, "", "None", False, [], {})
        )


def _number(value: object) -> float:
    """A number, NaN where the value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    # An integer may be beyond what a float holds.
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
    """A value as text for a message."""
    if isinstance(value, str):
        return value[:_MAX_CHARACTERS]
    if isinstance(value, dict | list):
        return f"{len(cast('list[object]', value))} values"
    return repr(value)[:_MAX_CHARACTERS]
