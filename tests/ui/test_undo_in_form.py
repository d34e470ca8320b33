"""Keys undo what lists, sliders and switches of the form changed, and leave fields their own."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.conftest import Desk
from ui.widgets.choice_box import ChoiceBox

PLAIN = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def press(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    widget.setFocus()
    QTest.keyClick(widget, key, modifiers)
    QApplication.processEvents()


@pytest.fixture
def sampler(desk: Desk) -> ChoiceBox:
    desk.unfold()
    return desk.window.form.advanced.rows.method.sampler


def test_a_list_and_a_slider_are_undone_and_redone_by_keys(desk: Desk, sampler: ChoiceBox) -> None:
    state = desk.session.generation
    before = state.form
    press(sampler, Qt.Key.Key_Down, PLAIN)
    chosen = state.form
    assert state.sampler is not None
    press(sampler, Qt.Key.Key_Z, CONTROL)
    assert state.form == before
    press(sampler, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert state.form == chosen
    slider = desk.window.form.advanced.rows.guidance.slider
    press(slider, Qt.Key.Key_Right, PLAIN)
    assert state.guidance is not None
    press(slider, Qt.Key.Key_Z, CONTROL)
    assert state.form == chosen


def test_a_switch_is_undone_from_the_list_before_it(desk: Desk, sampler: ChoiceBox) -> None:
    state = desk.session.generation
    before = state.form
    press(desk.window.form.advanced.rows.faster.box, Qt.Key.Key_Space, PLAIN)
    assert state.form != before
    press(sampler, Qt.Key.Key_Z, CONTROL)
    assert state.form == before


def test_a_field_undoes_its_own_text_and_the_form_the_number(
    desk: Desk, sampler: ChoiceBox
) -> None:
    state = desk.session.generation
    field = desk.window.form.advanced.rows.steps.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "31")
    press(field, Qt.Key.Key_Z, CONTROL)
    assert field.text() != "31"
    field.selectAll()
    QTest.keyClicks(field, "32")
    sampler.setFocus()
    assert state.steps == 32
    press(sampler, Qt.Key.Key_Z, CONTROL)
    assert state.steps is None


def test_the_dock_has_these_keys_too(desk: Desk) -> None:
    state = desk.session.generation
    state.count = 4
    press(desk.window.dock.generate, Qt.Key.Key_Z, CONTROL)
    assert state.count == 1
