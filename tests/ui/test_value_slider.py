"""The slider beside a number: what it says to screen readers, and how it is moved."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.app.supervised import PATIENCE_MS
from tests.ui.conftest import Desk
from ui.theme.theme import Theme
from ui.widgets.number_field import DecimalField, WholeField
from ui.widgets.slider_field import SliderField
from ui.widgets.value_slider import ValueSlider

# What the display of tests says of windows that are no whole application.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PLAIN = Qt.KeyboardModifier.NoModifier
LEFT_BUTTON = Qt.MouseButton.LeftButton


@pytest.fixture(params=["left to right", "right to left"])
def guidance(qtbot: QtBot, theme: Theme, request: pytest.FixtureRequest) -> SliderField:
    made = SliderField("Guidance", DecimalField(0, 100, step=0.5), (1, 15))
    qtbot.addWidget(made)
    if request.param == "right to left":
        made.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    made.resize(344, 40)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=PATIENCE_MS)
    return made


def spoken(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return f"{interface.text(QAccessible.Text.Name)} {interface.text(QAccessible.Text.Value)}"


@pytest.mark.parametrize("value", [2.5, 7, 0.75, 45])
def test_a_screen_reader_hears_the_value(guidance: SliderField, value: float) -> None:
    guidance.show_value(value)
    assert spoken(guidance.slider) == f"Guidance, slider {value:g}"
    interface = QAccessible.queryAccessibleInterface(guidance.slider)
    assert interface is not None
    assert interface.valueInterface().currentValue() == value
    assert spoken(guidance.field) == f"Guidance {value:g}"


def test_every_slider_of_the_form_says_what_its_field_says(desk: Desk) -> None:
    form = desk.window.form
    form.inputs.sliders.show()
    desk.unfold()
    desk.session.generation.guidance = 2.5
    desk.session.generation.strength = 0.75
    fields = desk.window.findChildren(SliderField)
    assert len(fields) >= 4
    for field in fields:
        name, value = spoken(field.slider).rsplit(" ", 1)
        assert (name, float(value)) == (
            f"{field.field.accessibleName()}, slider",
            field.field.value(),
        )
    assert spoken(form.advanced.rows.guidance.slider).endswith(" 2.5")
    assert spoken(form.inputs.strength.slider).endswith(" 0.75")


def test_the_mouse_moves_it_by_steps_from_end_to_end(guidance: SliderField) -> None:
    slider, told = guidance.slider, list[float]()
    guidance.edited.connect(told.append)
    first, last = QPoint(0, slider.height() // 2), QPoint(slider.width(), slider.height() // 2)
    if slider.isRightToLeft():
        first, last = last, first
    QTest.mousePress(slider, LEFT_BUTTON, PLAIN, first)
    assert guidance.field.value() == 1
    QTest.mouseMove(slider, last)
    QApplication.processEvents()
    QTest.mouseRelease(slider, LEFT_BUTTON, PLAIN, last)
    assert guidance.field.value() == slider.value() == told[-1] == 15
    middle = slider.rect().center()
    QTest.mouseClick(slider, LEFT_BUTTON, PLAIN, middle)
    assert guidance.field.value() == 8
    assert abs(slider.handle().x() - middle.x()) < slider.width() / 28
    assert all(2 * value == round(2 * value) for value in told)


def test_keys_move_a_slider_by_its_step(guidance: SliderField) -> None:
    slider = guidance.slider
    guidance.show_value(7)
    slider.setFocus()
    for key, value in (
        (Qt.Key.Key_Up, 7.5),
        (Qt.Key.Key_Down, 7),
        (Qt.Key.Key_Left if slider.isRightToLeft() else Qt.Key.Key_Right, 7.5),
        (Qt.Key.Key_End, 15),
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_PageUp, 6),
    ):
        QTest.keyClick(slider, key)
        assert guidance.field.value() == value
    # What is typed is for the field.
    QTest.keyClicks(slider, "3e")
    assert guidance.field.value() == 6


def test_a_double_click_and_the_delete_key_ask_for_the_usual_value(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    form.advanced.section.open()
    usual = state.effective
    for field, name in (
        (form.advanced.rows.steps, "steps"),
        (form.advanced.rows.guidance, "guidance"),
    ):
        QTest.mouseClick(field.slider, LEFT_BUTTON, PLAIN, QPoint(2, 2))
        assert getattr(state, name) is not None
        QTest.mouseDClick(field.slider, LEFT_BUTTON, PLAIN, field.slider.rect().center())
        assert (getattr(state, name), field.field.value()) == (None, getattr(usual, name))
        setattr(state, name, 3)
        QTest.keyClick(field.slider, Qt.Key.Key_Delete)
        assert getattr(state, name) is None


def test_a_value_beyond_its_ends_stays(guidance: SliderField) -> None:
    guidance.show_value(60)
    assert guidance.slider.value() == 60
    ends = guidance.slider.handle().x()
    guidance.show_value(15)
    assert guidance.slider.handle().x() == ends


def test_whole_numbers_stay_whole(qtbot: QtBot) -> None:
    steps = SliderField("Steps", WholeField(1, 1000), (1, 50))
    qtbot.addWidget(steps)
    told: list[object] = []
    steps.edited.connect(told.append)
    steps.slider.setValue(31)
    assert told == [31]
    assert isinstance(told[0], int)


def test_a_disabled_slider_is_grey(qtbot: QtBot, theme: Theme) -> None:
    slider = ValueSlider((0.0, 10.0), 1.0, (0.0, 10.0))
    qtbot.addWidget(slider)
    slider.setValue(5.0)
    theme.dress(slider)
    slider.show()
    bright = QColor(theme.colours.text)
    assert slider.grab().toImage().pixelColor(slider.handle().toPoint()) == bright
    slider.setEnabled(False)
    grey = QColor(theme.colours.outline)
    assert slider.grab().toImage().pixelColor(slider.handle().toPoint()) == grey
