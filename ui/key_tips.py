"""Keys in tooltips: one that the user changes is the new one in every tooltip at once."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from ui.action_names import ActionName
from ui.keys import keys
from ui.widgets.labels import plain_tooltip

WidgetT = TypeVar("WidgetT", bound=QWidget)


def show_key(widget: QWidget, name: ActionName, words: str | None = None) -> None:
    """Have a tooltip say `words`, by default the widget's accessible name, and an action's key.

    Screen readers say the key after the name, and `words` that are others with it.
    """
    said = widget.accessibleName() if words is None else words
    follow_keys(widget, partial(_say, name, said))


def follow_keys(widget: WidgetT, say: Callable[[WidgetT], object]) -> None:
    """Call `say` with the widget now, and whenever keys change while the widget is there.

    It takes the place of what was said of the widget's keys before.
    """
    _followers().add(widget, say)
    say(widget)


def with_key(words: str, name: ActionName) -> str:
    """Return words with an action's key in brackets; one of both alone without the other."""
    key = keys().shown(name)
    return f"{words} ({key})" if words and key else words or key


class _Followers(QObject):
    """The widgets that say keys; one connection serves all, as each costs a window's start."""

    def __init__(self) -> None:
        super().__init__(keys())
        self._all: WeakKeyDictionary[QWidget, Callable[[Any], object]] = WeakKeyDictionary()
        keys().changed.connect(self._on_changed)

    def add(self, widget: WidgetT, say: Callable[[WidgetT], object]) -> None:
        """Have a widget say its keys when they change; `say` must not hold it."""
        self._all[widget] = say

    def _on_changed(self) -> None:
        for widget, say in list(self._all.items()):
            # One that Qt has deleted may still be held.
            if isValid(widget):
                say(widget)


@cache
def _followers() -> _Followers:
    return _Followers()


def _say(name: ActionName, words: str, widget: QWidget) -> None:
    told = with_key(words, name)
    # Without a description of its own, screen readers say the tooltip, which repeats the name.
    is_name = words == widget.accessibleName()
    widget.setAccessibleDescription(keys().shown(name) if is_name else told)
    widget.setToolTip(plain_tooltip(told))
