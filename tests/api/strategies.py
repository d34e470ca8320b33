"""Any value of the protocol's types, for property tests."""

import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from engine.api.messages import Command, Event

COMMANDS: tuple[type[Command], ...] = typing.get_args(Command)
EVENTS: tuple[type[Event], ...] = typing.get_args(Event)

# Text as pipes carry it: without the halves of characters.
_PLAIN: Mapping[type, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    int: st.integers(-(2**63), 2**64 - 1),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    type(None): st.none(),
    msgspec.UnsetType: st.just(msgspec.UNSET),
}


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the messages annotate it."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        return st.one_of([values(argument) for argument in arguments])
    if origin is tuple and arguments[-1] is ...:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(argument) for argument in arguments))
    if issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    assert issubclass(annotation, msgspec.Struct), annotation
    return _structs(annotation)


@cache
def _structs(annotation: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Structs of a type, which may hold others of the same type."""

    def made() -> st.SearchStrategy[Any]:
        hints = typing.get_type_hints(annotation)
        fields = {name: values(hints[name]) for name in annotation.__struct_fields__}
        return st.builds(annotation, **fields)

    return st.deferred(made)


commands: st.SearchStrategy[Command] = st.one_of([values(kind) for kind in COMMANDS])
events: st.SearchStrategy[Event] = st.one_of([values(kind) for kind in EVENTS])
