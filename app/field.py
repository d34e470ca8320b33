"""Attributes that emit a signal when they change; the state objects of `app` consist of them."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints, overload

from PySide6.QtCore import QObject, Signal, SignalInstance

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
        if isinstance(state, FieldGroup):
            # What follows from the change in other fields is told with it.
            with state.at_once():
                state.note(self._name)
                signal.emit(value)
        else:
            signal.emit(value)


class FieldGroup(QObject):
    """An object whose fields tell of their changes one by one, and then together."""

    # frozenset[str]: the names of the fields that were given other values at once.
    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._blocks = 0
        self._untold: set[str] = set()

    @contextmanager
    def at_once(self) -> Generator[None]:
        """Make the changes within this block one: `changed` is emitted once, where it ends."""
        self._blocks += 1
        try:
            yield
        finally:
            self._blocks -= 1
            if self._untold and not self._blocks:
                names, self._untold = frozenset(self._untold), set()
                self.changed.emit(names)

    def note(self, name: str) -> None:
        """Have a field among those that `changed` tells of."""
        self._untold.add(name)


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
