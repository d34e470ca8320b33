"""The numbers of a request, each paired with the bounds that its field declares."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import msgspec

from engine.api.fields import Bounds, Limit, Measure, fields_of


class Bounded(NamedTuple):
    """A number of a request: its display name, its value and its inclusive bounds."""

    name: str
    value: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """True if the number is within its bounds; NaN is not."""
        return self.low <= self.value <= self.high


def bounded(value: msgspec.Struct) -> Iterator[Bounded]:
    """Yield every number of a struct and its nested structs that is not None and has bounds."""
    for field in fields_of(type(value)).values():
        part = getattr(value, field.name)
        if part is None:
            continue
        if field.limit is not None:
            yield from _measured(field.limit.name or field.name, part, field.limit)
        for inner in cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,):
            if isinstance(inner, msgspec.Struct):
                yield from bounded(inner)


def _measured(name: str, value: Any, limit: Limit) -> Iterator[Bounded]:
    bounds: Bounds = limit.bounds
    match limit.measure:
        case Measure.VALUE:
            yield Bounded(name, value, *bounds)
        case Measure.LENGTH:
            yield Bounded(name, len(value), *bounds)
        case Measure.EACH:
            for part in value:
                yield Bounded(name, part, *bounds)
        case Measure.SPAN:
            start, end = value
            yield Bounded(f"end of {name}", end, *bounds)
            yield Bounded(f"start of {name}", start, bounds.low, end)
