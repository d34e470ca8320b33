"""Words that an input method is composing, as those of Chinese, Japanese and Korean have them.

A field shows such a word, but its text is without it until the word is taken.
"""

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit


def take_composed_word() -> None:
    """Put the word that is being composed into its field, as Qt does where the focus moves on."""
    method = QGuiApplication.inputMethod()
    method.commit()
    field = QApplication.focusWidget()
    if isinstance(field, QPlainTextEdit):
        left = field.textCursor().block().layout().preeditAreaText()
        if left:  # by an input method that does nothing when it is asked
            taking = QInputMethodEvent()
            taking.setCommitString(left)
            QCoreApplication.sendEvent(field, taking)
            method.reset()
