"""Typing can be undone and redone by keys in every field of the window and its dialogs."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from tests.ui.conftest import Desk
from tests.ui.test_wheel import DIALOGS, fill
from ui.places import Place
from ui.theme.theme import Theme

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Field = QLineEdit | QPlainTextEdit
_MOST_STEPS = 6


def fields(top: QWidget) -> list[Field]:
    """The fields that can be typed into."""
    every = (*top.findChildren(QLineEdit), *top.findChildren(QPlainTextEdit))
    return [
        field
        for field in every
        if field.isVisible() and field.isEnabled() and not field.isReadOnly()
    ]


def text_of(field: Field) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def press(field: Field, keys: QKeySequence.StandardKey, until: str) -> bool:
    """Press keys until the field has this text; return False if it does not get it."""
    for _ in range(_MOST_STEPS):
        if text_of(field) == until:
            return True
        QTest.keySequence(field, QKeySequence(keys))
        QApplication.processEvents()
    return text_of(field) == until


def type_into(field: Field, before: str) -> str:
    """Type what the field takes, and return its text."""
    QTest.keyClick(field, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "77")
    # Where a number is at its bound.
    for text in ("1", "0.5"):
        if text_of(field) == before:
            QTest.keySequence(field, QKeySequence(QKeySequence.StandardKey.SelectAll))
            QTest.keyClicks(field, text)
    QApplication.processEvents()
    return text_of(field)


def faults_in(top: QWidget) -> list[str]:
    """The fields in which an edit by keys is not undone and redone."""
    found: list[str] = []
    for field in fields(top):
        field.setFocus()
        before = text_of(field)
        typed = type_into(field, before)
        name = f"{type(field).__name__} {field.accessibleName() or field.parent()}"
        if typed == before:
            found.append(f"{name}: nothing can be typed")
        elif not press(field, QKeySequence.StandardKey.Undo, before):
            found.append(f"{name}: {before!r} became {typed!r}, undone {text_of(field)!r}")
        elif not press(field, QKeySequence.StandardKey.Redo, typed):
            found.append(f"{name}: {typed!r} is redone as {text_of(field)!r}")
        press(field, QKeySequence.StandardKey.Undo, before)
    return found


def test_typing_is_undone_and_redone_in_every_field(desk: Desk, theme: Theme) -> None:
    fill(desk, theme)
    faults: list[str] = []
    looked_at = 0
    for place in Place:
        desk.window.places.open(place)
        QApplication.processEvents()
        looked_at += len(fields(desk.window))
        faults += faults_in(desk.window)
    for make in DIALOGS.values():
        dialog = make(desk, theme)
        dialog.show()
        QApplication.processEvents()
        looked_at += len(fields(dialog))
        faults += faults_in(dialog)
        dialog.reject()
    assert faults == []
    assert looked_at > 20
