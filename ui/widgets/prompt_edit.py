"""A field for a prompt: plain text, undo, Tab leaves it."""

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.theme.metrics import XS, M

# A text this long was pasted by mistake, and laying it out would freeze the window.
MOST_PASTED = 20_000


class PromptEdit(QPlainTextEdit):
    """Text dropped or pasted is plain; files dropped on it are the window's."""

    def __init__(self, lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + M + XS)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 (Qt's name)
        """Text only; a file dropped here goes to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 (Qt's name)
        """Insert the beginning of a text."""
        self.insertPlainText(source.text()[:MOST_PASTED])
