"""Attributes that emit a signal when they change; the state objects of `app` consist of them."""

from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints, overload

from PySide6.QtCore import QObject, SignalInstance

Value = TypeVar("Value")


class Field(Generic[Value]):
    """An attribute of a QObject that emits `<name>_changed` when it is set to another value."""

    def __init__(self, default: Value) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        if not hasattr(owner, f"{name}_changed"):
            raise TypeError(f"{owner.__name__}.{name} has no signal {name}_changed")
        self._name = name

    @overload
    def __get__(self, state: None, owner: type) -> "Field[Value]": ...
    @overload
    def __get__(self, state: QObject, owner: type) -> Value: ...
    def __get__(self, state: QObject | None, owner: type) -> "Value | Field[Value]":
        if state is None:
            return self
        return state.__dict__.get(self._name, self.default)

    def __set__(self, state: QObject, value: Value) -> None:
        before: Any = state.__dict__.get(self._name, self.default)
        # 1 == True and 2 == 2.0, but they are not the same value.
        if before == value and type(before) is type(value):
            return
        state.__dict__[self._name] = value
        signal: SignalInstance = getattr(state, f"{self._name}_changed")
        signal.emit(value)


class StatedField(NamedTuple):
    """A field's name, type and default, as its class declares them."""

    name: str
    kind: Any
    default: Any


def fields_of(owner: type[QObject]) -> list[StatedField]:
    """Return the fields that a class and its bases declare, with types; the bases' first."""
    stated: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        stated |= {name: value for name, value in vars(base).items() if isinstance(value, Field)}
    kinds = get_type_hints(owner)
    return [StatedField(name, get_args(kinds[name])[0], stated[name].default) for name in stated]
