"""Two-way binding between a control and a value of the state, without feedback loops.

The control shows each change of the value; only the user's edits are written back. A value that a
control cannot show exactly (three decimals in a field of one) stays exact until the user edits it.
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
    """Show a value in a control now and on each `changed`, with the control's signals blocked."""

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
    """Bind a text field to a text. The user can undo a change from the state like any edit."""
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
