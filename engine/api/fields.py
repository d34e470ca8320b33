"""Facts that a field of a request states beside its type: bounds, names for people, uses.

    steps: Annotated[int | None, within(1, MAX_STEPS, "number of steps")] = None

The facts are `msgspec.Meta` that msgspec itself does not enforce. A command with a number out of
bounds must reach the engine, which refuses it in words, and a line of the queue's journal must be
read whatever it asks for; `Meta(ge=..., le=...)` would make both undecodable.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec


class Bounds(NamedTuple):
    """The least and the largest value that is accepted."""

    low: float
    high: float

    @property
    def whole(self) -> tuple[int, int]:
        """Both ends of a whole number's bounds."""
        return int(self.low), int(self.high)


class Measure(Enum):
    """The numbers of a field's value to which its bounds apply."""

    VALUE = auto()  # the value itself
    LENGTH = auto()  # the length of a text or a tuple
    EACH = auto()  # each part of a tuple
    SPAN = auto()  # start and end: the start from the low bound to the end


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds, and the name by which messages call what they bound; "" is the field's own name."""

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
    """Bounds of each number of a tuple; `name` is that of one of them."""
    return _limit(name, Bounds(low, high), Measure.EACH)


def span_within(low: float, high: float, name: str) -> msgspec.Meta:
    """Bounds of a start and an end, in this order; `name` is that of what starts and ends."""
    return _limit(name, Bounds(low, high), Measure.SPAN)


def summary(template: str) -> msgspec.Meta:
    """Words of the window for a value that is not the default; `{name}` is a field beside it."""
    return msgspec.Meta(extra={"summary": template})


def title(words: str) -> msgspec.Meta:
    """The name of a field in the command line's help."""
    return msgspec.Meta(title=words)


# `--set NAME=VALUE` takes this field by its name, or each field of it if it is a structure.
SETTING = msgspec.Meta(extra={"is_setting": True})
# The field is about the machine and not about the picture.
MACHINE = msgspec.Meta(extra={"is_machine": True})


@dataclass(frozen=True, slots=True)
class RequestField:
    """A field of a structure with all that is stated of it.

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
        """The structure that the field holds or may hold; None if it holds none."""
        is_union = get_origin(self.kind) in (Union, UnionType)
        for kind in get_args(self.kind) if is_union else (self.kind,):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                return kind
        return None


@cache
def fields_of(kind: type[msgspec.Struct]) -> MappingProxyType[str, RequestField]:
    """The fields of a structure by name, in order.

    A class that narrows the type of a field of its base keeps what the base states of it.
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
    """The bounds that a field states. Raises KeyError if there are none."""
    limit = fields_of(kind)[name].limit
    if limit is None:
        raise KeyError(f"{kind.__name__}.{name} states no bounds")
    return limit.bounds


def _limit(name: str, bounds: Bounds, measure: Measure) -> msgspec.Meta:
    return msgspec.Meta(extra={"limit": Limit(name, bounds, measure)})


def _stated(kind: type[msgspec.Struct]) -> dict[str, dict[str, Any]]:
    """The facts of each field, from the class and its bases."""
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
