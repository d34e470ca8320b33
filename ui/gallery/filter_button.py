"""A button that narrows a search by one choice of a menu."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from app.gallery.query import GalleryQuery
from ui.theme.metrics import ICON
from ui.theme.theme import Theme
from ui.widgets.labels import plain_tooltip

_HEIGHT = 30
_LONGEST = 28
_LONGEST_CHOICE = 60


class Choice(NamedTuple):
    """An entry of the menu: its text, and the fields of the query that it sets.

    `short` is its text on the button, if that is another one.
    """

    text: str
    fields: Mapping[str, object]
    short: str = ""

    def is_in(self, query: GalleryQuery) -> bool:
        """Return True if a query has these values."""
        return all(getattr(query, name) == value for name, value in self.fields.items())


class Chip(QToolButton):
    """A round button of the filters: all of one class, or their text would not be in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "filter")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(ICON, ICON))
        self.setFixedHeight(_HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class FilterButton(Chip):
    """A button with a menu of choices, one of them in force; it says which unless it is the usual.

    `fill` is asked for the choices, the usual one first; None is a line between them.
    """

    # Emits the fields of the choice.
    chosen = Signal(object)

    def __init__(
        self, theme: Theme, name: str, fill: Callable[[], Sequence[Choice | None]]
    ) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._fill = fill
        self._query = GalleryQuery()
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._choices = QMenu(self)
        self._choices.aboutToShow.connect(self._open)
        self._group = QActionGroup(self._choices)
        self.setMenu(self._choices)
        theme.changed.connect(self._draw)

    def show_query(self, query: GalleryQuery) -> None:
        """Show what is in force in a query."""
        self._query = query
        self._show(self.said(query))

    def said(self, query: GalleryQuery) -> str:
        """Return the words for the choice that a query has; empty for the usual one."""
        usual, *others = [choice for choice in self._fill() if choice is not None]
        if usual.is_in(query):
            return ""
        found = (choice.short or choice.text for choice in others if choice.is_in(query))
        values = (getattr(query, name) for name in usual.fields)
        # A name that the list has no more is still filtered by.
        return next(found, "") or next(str(value) for value in values if value)

    def _show(self, text: str) -> None:
        short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
        # A single & would underline the next letter.
        self.setText((short or self._name).replace("&", "&&"))
        spoken = f"{self._name}: {text}" if text else self._name
        self.setAccessibleName(spoken)
        self.setToolTip(plain_tooltip(spoken))
        self.setProperty("active", bool(text))
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw()

    def _open(self) -> None:
        self._choices.clear()
        for choice in self._fill():
            if choice is None:
                self._choices.addSeparator()
                continue
            text = choice.text[:_LONGEST_CHOICE].replace("&", "&&")
            action = QAction(text, self._choices, checkable=True)
            action.setChecked(choice.is_in(self._query))
            action.triggered.connect(lambda _=False, made=choice: self.chosen.emit(made.fields))
            self._group.addAction(action)
            self._choices.addAction(action)

    def _draw(self) -> None:
        self.setIcon(self._theme.icon("chevron"))
