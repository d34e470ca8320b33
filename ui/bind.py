"""Ties a control to a value of the state, both ways and without echo.

The control shows the value when it changes; only what the user does is written back. So a value
that a control cannot show exactly (three decimals in a field of one) stays exact until it is
edited.
"""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QSignalBlocker, SignalInstance
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

Value = TypeVar("Value")


def bind_shown(
    widget: QWidget,
    changed: SignalInstance,
    read: Callable[[], Value],
    show: Callable[[Value], None],
) -> None:
    """Have a control show a value, now and whenever `changed` tells; its own signals stay quiet."""

    def refresh() -> None:
        with QSignalBlocker(widget):
            show(read())

    def on_changed(*_: object) -> None:
        refresh()

    changed.connect(on_changed)
    refresh()


def bind_text(
    edit: QPlainTextEdit,
    changed: SignalInstance,
    read: Callable[[], str],
    write: Callable[[str], None],
) -> None:
    """Tie a text field to a text. What the state puts in can be undone like any edit."""
    pushing = False

    def show(*_: object) -> None:
        nonlocal pushing
        if edit.toPlainText() == read():
            return
        pushing = True
        cursor = edit.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(read())
        cursor.endEditBlock()
        pushing = False

    def take() -> None:
        if not pushing:
            write(edit.toPlainText())

    show()
    edit.document().clearUndoRedoStacks()
    edit.moveCursor(QTextCursor.MoveOperation.End)
    changed.connect(show)
    edit.textChanged.connect(take)
