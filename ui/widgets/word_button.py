"""A button with words, which has an icon alone where there is little room."""

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton

from ui.theme.theme import Theme


class WordButton(QPushButton):
    """A button with words, or with an icon alone where there is no room for them."""

    def __init__(self, theme: Theme, words: str, icon: str) -> None:
        super().__init__(words)
        self._theme, self._words, self._icon = theme, words, icon
        self.setAccessibleName(words)
        theme.changed.connect(self._draw)

    def show_words(self, *, shown: bool) -> None:
        """Show the words or the icon."""
        if shown != bool(self.text()):
            self.setText(self._words if shown else "")
            self._draw()

    def _draw(self) -> None:
        self.setIcon(QIcon() if self.text() else self._theme.icon(self._icon))
