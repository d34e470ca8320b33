"""Fields stay quick whatever is pasted into them: they take the beginning of a text."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QToolButton

from app.library.model_notes import MOST_CHARACTERS as MOST_IN_NOTE
from tests.ended import delete_after_test
from tests.ui.conftest import Desk
from ui.actions import ActionName
from ui.theme.colours import DARK, LIGHT
from ui.theme.theme import Theme
from ui.widgets.line_field import MOST_CHARACTERS, LineField
from ui.widgets.text_field import LONGEST_LINE, TextField

PLACES = (ActionName.GALLERY, ActionName.MODELS, ActionName.SETTINGS, ActionName.CREATE)


def fields(desk: Desk) -> Iterator[QLineEdit]:
    """Yield every field for a line of every place and of the dialogs of the form."""
    for name in PLACES:
        desk.window.actions_by_name[name].trigger()
        QTest.qWait(1)
    desk.unfold()
    desk.window.form.show_lists("")
    for top in QApplication.topLevelWidgets():
        yield from top.findChildren(QLineEdit)


def test_no_field_for_a_line_takes_a_paste_that_would_stop_the_window(desk: Desk) -> None:
    found = list(fields(desk))
    assert len(found) > 10
    assert [field for field in found if field.maxLength() > MOST_CHARACTERS] == []


@pytest.mark.parametrize("before", ["", "ab\ncd"])
def test_a_line_without_spaces_is_cut_with_what_is_around_it(before: str) -> None:
    field = TextField(1_000_000)
    delete_after_test(field)
    told: list[bool] = []
    field.shortened.connect(lambda: told.append(True))
    field.setPlainText(before)
    QGuiApplication.clipboard().setText("x" * 100_000)
    for _ in range(2):
        field.paste()
    assert max(map(len, field.toPlainText().split("\n"))) == LONGEST_LINE
    assert len(told) == 2
    QGuiApplication.clipboard().setText("short\n" * 3000)
    field.selectAll()
    field.paste()
    assert field.toPlainText() == "short\n" * 3000
    assert len(told) == 2


def test_a_note_on_a_model_has_room_for_what_is_kept(desk: Desk) -> None:
    desk.window.actions_by_name[ActionName.MODELS].trigger()
    notes = [
        widget
        for widget in desk.window.findChildren(TextField)
        if widget.placeholderText().startswith("What it is good at")
    ]
    QGuiApplication.clipboard().setText("x" * 100_000)
    notes[0].paste()
    assert len(notes[0].toPlainText()) == MOST_IN_NOTE


def test_an_entry_of_a_list_is_cut_and_that_is_said(desk: Desk) -> None:
    dialog = desk.window.form.show_lists("animal")
    QGuiApplication.clipboard().setText("x" * 100_000)
    dialog.text.paste()
    assert len(dialog.text.toPlainText()) == LONGEST_LINE
    assert "too long" in dialog.about.text()
    dialog.text.clear()


def test_a_list_with_an_endless_line_is_not_wrapped(desk: Desk) -> None:
    store = desk.session.wildcards
    store.write("sky", "x" * (LONGEST_LINE + 1))
    desk.wait(lambda: store.names == ("sky",))
    dialog = desk.window.form.show_lists("")
    assert dialog.text.lineWrapMode() is QPlainTextEdit.LineWrapMode.NoWrap
    store.write("sky", "blue")
    desk.wait(lambda: dialog.text.toPlainText() == "blue")
    assert dialog.text.lineWrapMode() is QPlainTextEdit.LineWrapMode.WidgetWidth


def test_the_button_that_empties_a_line_has_the_colours_of_the_theme(theme: Theme) -> None:
    field = LineField()
    delete_after_test(field)
    field.setClearButtonEnabled(True)
    (button,) = field.findChildren(QToolButton)
    theme.dress(field)
    field.show()
    for colours in (LIGHT, DARK):
        theme.use_colours(colours)
        theme.finish()
        drawn = button.icon().pixmap(32, 32).toImage()
        shades = {
            QColor(drawn.pixelColor(x, y)).name()
            for x in range(drawn.width())
            for y in range(drawn.height())
            if drawn.pixelColor(x, y).alpha() == 255
        }
        assert shades == {colours.muted}
