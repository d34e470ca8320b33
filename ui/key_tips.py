"""Keys in tooltips: one that the user changes is the new one in every tooltip at once."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from ui.action_names import ActionName
from ui.keys import keys
from ui.widgets.labels import plain_tooltip


def show_key(widget: QWidget, name: ActionName, words: str | None = None) -> None:
    """Have a tooltip say `words`, by default the widget's accessible name, and an action's key.

    Screen readers say the key after the name, and `words` that are others with it.
    """
    said = widget.accessibleName() if words is None else words
    follow_keys(widget, partial(_say, widget, name, said))


def follow_keys(widget: QWidget, say: Callable[[], object]) -> None:
    """Call `say` now, and whenever keys change while the widget is there.

    It takes the place of what was said of the widget's keys before.
    """
    found = widget.findChild(_Follower, options=Qt.FindChildOption.FindDirectChildrenOnly)
    follower = found or _Follower(widget)
    follower.say = say
    say()


def with_key(words: str, name: ActionName) -> str:
    """Return words with an action's key in brackets; one of both alone without the other."""
    key = keys().shown(name)
    return f"{words} ({key})" if words and key else words or key


class _Follower(QObject):
    """The child of a widget that says its keys anew when they change."""

    say: Callable[[], object]

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        keys().changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        self.say()


def _say(widget: QWidget, name: ActionName, words: str) -> None:
    told = with_key(words, name)
    # Without a description of its own, screen readers say the tooltip, which repeats the name.
    is_name = words == widget.accessibleName()
    widget.setAccessibleDescription(keys().shown(name) if is_name else told)
    widget.setToolTip(plain_tooltip(told))
