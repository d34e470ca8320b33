"""Metadata of a request's fields beside their types: bounds, display names, uses.

    steps: Annotated[int | None, within(1, MAX_STEPS, "number of steps")] = None

The metadata are `msgspec.Meta` objects that msgspec itself does not enforce. A command with a
number out of bounds must reach the engine, which refuses it with a message, and a line of the
queue's journal must be readable even with such a number; `Meta(ge=..., le=...)` would make both
undecodable.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec


class Bounds(NamedTuple):
    """The least and the largest accepted value, both inclusive."""

    low: float
    high: float

    @property
    def whole(self) -> tuple[int, int]:
        """Both bounds as integers."""
        return int(self.low), int(self.high)


class Measure(Enum):
    """The numbers of a field's value to which its bounds apply."""

    VALUE = auto()  # the value itself
    LENGTH = auto()  # the length of a text or a tuple
    EACH = auto()  # each part of a tuple
    SPAN = auto()  # start and end: the start from the low bound to the end


class Limit(msgspec.Struct, frozen=True):
    """Bounds, and the name of the bounded number in messages; "" stands for the field's name."""

    name: str
    bounds: Bounds
    measure: Measure


def within(low: float, high: float, name: str = "") -> msgspec.Meta:
    """Bounds of a number."""
    return _limit(name, Bounds(low, high), Measure.VALUE)


def length_within(low: int, high: int, name: str) -> msgspec.Meta:
    """Bounds of the length of a text or a tuple."""
    return _limit(name, Bounds(low, high), Measure.LENGTH)


def each_within(low: float, high: float, name: str) -> msgspec.Meta:
    """Bounds of each number of a tuple; `name` is the name of a single number."""
    return _limit(name, Bounds(low, high), Measure.EACH)


def span_within(low: float, high: float, name: str) -> msgspec.Meta:
    """Bounds of a (start, end) pair; `name` is the name of the range."""
    return _limit(name, Bounds(low, high), Measure.SPAN)


def summary(template: str) -> msgspec.Meta:
    """A template for the window's summary of a value that is not the default.

    `{name}` stands for the value of the field `name` of the same struct.
    """
    return msgspec.Meta(extra={"summary": template})


def title(words: str) -> msgspec.Meta:
    """The name of a field in the command line's help."""
    return msgspec.Meta(title=words)


# `--set NAME=VALUE` of the command line accepts this field, or each field of a nested struct.
SETTING = msgspec.Meta(extra={"is_setting": True})
# The field concerns the machine and not the picture.
MACHINE = msgspec.Meta(extra={"is_machine": True})


@dataclass(frozen=True, slots=True)
class RequestField:
    """A field of a struct with its metadata.

    `kind` is its type without annotations; `default` is `msgspec.NODEFAULT` if a value is required.
    """

    name: str
    kind: Any = field(repr=False)
    default: Any
    title: str = ""
    limit: Limit | None = None
    summary: str = ""
    is_setting: bool = False
    is_machine: bool = False

    @property
    def structure(self) -> type[msgspec.Struct] | None:
        """The struct type among the field's possible types; None if there is none."""
        is_union = get_origin(self.kind) in (Union, UnionType)
        for kind in get_args(self.kind) if is_union else (self.kind,):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                return kind
        return None


@cache
def fields_of(kind: type[msgspec.Struct]) -> MappingProxyType[str, RequestField]:
    """The fields of a struct by name, in order.

    A subclass that redefines a field with a narrower type inherits the base field's metadata.
    """
    types = get_type_hints(kind)
    stated = _stated(kind)
    return MappingProxyType(
        {
            info.name: RequestField(
                name=info.name,
                kind=types[info.name],
                default=info.default,
                **stated.get(info.name, {}),
            )
            for info in msgspec.structs.fields(kind)
        }
    )


def bounds_of(kind: type[msgspec.Struct], name: str) -> Bounds:
    """The bounds of a field. Raises KeyError if it has none."""
    limit = fields_of(kind)[name].limit
    if limit is None:
        raise KeyError(f"{kind.__name__}.{name} states no bounds")
    return limit.bounds


def _limit(name: str, bounds: Bounds, measure: Measure) -> msgspec.Meta:
    return msgspec.Meta(extra={"limit": Limit(name, bounds, measure)})


def _stated(kind: type[msgspec.Struct]) -> dict[str, dict[str, Any]]:
    """The metadata of each field by name, from the class and its bases."""
    stated: dict[str, dict[str, Any]] = {}
    for owner in reversed(kind.__mro__):
        for name, hint in get_type_hints(owner, include_extras=True).items():
            metas = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
            for meta in metas:
                facts = stated.setdefault(name, {})
                facts |= meta.extra or {}
                if meta.title is not None:
                    facts["title"] = meta.title
    return stated
