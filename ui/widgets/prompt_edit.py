"""A field for a prompt: plain text, undo, Tab leaves it."""

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.theme.metrics import XS, M


class PromptEdit(QPlainTextEdit):
    """Text dropped or pasted is plain; files dropped on it are the window's.

    At most so many characters are pasted; `shortened` tells that there were more.
    """

    shortened = Signal()

    def __init__(self, lines: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most = most
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + M + XS)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 (Qt's name)
        """Text only; a file dropped here goes to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 (Qt's name)
        """Insert the beginning of a text."""
        text = source.text()
        self.insertPlainText(text[: self._most])
        if len(text) > self._most:
            self.shortened.emit()
