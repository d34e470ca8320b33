"""Texts for the clipboard, and the word that something is there."""

from PySide6.QtCore import QCoreApplication, QPoint, QRect
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolTip, QWidget

from ui.spoken import say

translate = QCoreApplication.translate
# Long enough to be read, in milliseconds.
_SHOWN_MS = 1500


def copy_text(text: str, source: QWidget) -> None:
    """Put a text into the clipboard, and say so beside the widget that it comes from."""
    QGuiApplication.clipboard().setText(text)
    _tell(source)


def tell_copied() -> None:
    """Say that something is in the clipboard beside the button that was clicked for it, if any.

    Whoever uses a key or a menu sees where it comes from, and expects no answer.
    """
    clicked = QApplication.widgetAt(QCursor.pos())
    if isinstance(clicked, QAbstractButton):
        _tell(clicked)


def _tell(source: QWidget) -> None:
    words = translate("copying", "Copied")
    below = source.mapToGlobal(QPoint(0, source.height() // 2))
    QToolTip.showText(below, words, source, QRect(), _SHOWN_MS)
    say(source, words)
