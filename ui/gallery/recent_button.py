"""A button with a menu of recent searches, each with its words and filters."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QToolButton

from app.gallery.habits import GalleryHabits
from app.gallery.query import GalleryQuery
from ui.gallery.filter_button import Chip
from ui.theme.theme import Theme

_LONGEST = 80


class RecentButton(Chip):
    """The button, which is there once there are searches; `said` words one of them."""

    # Emits the GalleryQuery of the choice.
    chosen = Signal(object)

    def __init__(
        self, theme: Theme, habits: GalleryHabits, said: Callable[[GalleryQuery], str]
    ) -> None:
        super().__init__()
        self._theme, self._habits, self._said = theme, habits, said
        self.setText(self.tr("Recent"))
        words = self.tr("Recent searches")
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.choices = QMenu(self)
        self.choices.aboutToShow.connect(self._fill)
        self.setMenu(self.choices)
        theme.changed.connect(self._draw)
        self._draw()
        self.refresh()

    def refresh(self) -> None:
        """Be there if there are searches."""
        self.setVisible(bool(self._habits.habits.searches))

    def _fill(self) -> None:
        self.choices.clear()
        for query in self._habits.habits.recent:
            text = self._said(query)[:_LONGEST].replace("&", "&&")
            self.choices.addAction(text).triggered.connect(partial(self.chosen.emit, query))

    def _draw(self) -> None:
        self.setIcon(self._theme.icon("chevron"))
