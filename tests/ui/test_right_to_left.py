"""A window from right to left: sizes keep their order, and words begin at the right."""

from typing import cast

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QStyle, QStyleOptionComboBox, QWidget
from pytestqt.qtbot import QtBot

from engine.api.request import GenerateRequest
from tests.ui.conftest import Desk
from ui.labels import settings_summary, size_label
from ui.picture_facts import Fact
from ui.theme.metrics import XS
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import plain_label
from ui.widgets.picture_details import PictureDetails

LTR, RTL = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
HEBREW = "בית אדום ליד הים"


def place_of(part: str, text: str, direction: Qt.LayoutDirection) -> float:
    """The place of a part of a text on the screen, by Unicode's bidirectional algorithm."""
    option = QTextOption()
    option.setTextDirection(direction)
    layout = QTextLayout(text, QFont())
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(10_000)
    line.setPosition(QPointF(0, 0))
    layout.endLayout()
    # Within it: at an edge there are two places, one for each direction.
    found = cast("tuple[float, int]", line.cursorToX(text.index(part) + 1))
    return found[0]


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("direction", [LTR, RTL])
@pytest.mark.parametrize("form", ["{size}", HEBREW + " · {size}", "{size} · " + HEBREW])
def test_the_width_is_read_before_the_height(form: str, direction: Qt.LayoutDirection) -> None:
    text = form.format(size=size_label(512, 768))
    assert place_of("512", text, direction) < place_of("768", text, direction)


@pytest.mark.usefixtures("qapp")
def test_in_a_summary_too() -> None:
    request = GenerateRequest(prompt="", width=512, height=768, seed=12, steps=20)
    text = settings_summary(request)
    assert place_of("512", text, RTL) < place_of("768", text, RTL)


def ink(label: QWidget) -> tuple[int, int]:
    """The first and the last column that is not of the ground's colour."""
    image = label.grab().toImage()
    ground = image.pixel(0, 0)
    columns = [
        x
        for x in range(image.width())
        if any(image.pixel(x, y) != ground for y in range(image.height()))
    ]
    return columns[0], image.width() - 1 - columns[-1]


def test_a_choice_keeps_off_both_edges(qtbot: QtBot, theme: Theme) -> None:
    window = QWidget()
    window.setLayoutDirection(RTL)
    qtbot.addWidget(window)
    box = ChoiceBox(theme, window)
    box.addItem("Model")
    box.resize(120, box.height())
    theme.dress(window)
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    whole, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
    text = box.style().subControlRect(whole, option, part, box)
    # As far from the right as it is from the left in other languages.
    assert box.width() - text.right() > XS


@pytest.mark.parametrize("text", ["Model", "Stable Diffusion 1 · f16 · 27 MB", HEBREW])
@pytest.mark.parametrize("wrap", [False, True])
def test_words_begin_where_the_window_begins(qtbot: QtBot, text: str, wrap: bool) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    label = plain_label(text, wrap=wrap)
    label.setParent(window)
    label.resize(600, 30)
    for direction in (RTL, LTR, RTL):
        window.setLayoutDirection(direction)
        left, right = ink(label)
        assert (right < 10 < left) if direction is RTL else (left < 10 < right)


def test_the_names_of_controls_stand_over_their_beginning(desk: Desk) -> None:
    window = desk.window
    window.setLayoutDirection(RTL)
    window.resize(1440, 900)
    panel = window.form.checkpoint
    desk.wait(lambda: panel.box.x() > panel.open.x())
    label = next(widget for widget in panel.findChildren(QLabel) if widget.buddy() is panel.box)
    left, right = ink(label)
    assert label.geometry().right() == panel.box.geometry().right()
    assert right < 10 < left


@pytest.mark.parametrize("direction", [LTR, RTL])
def test_generate_and_its_key_are_apart(desk: Desk, direction: Qt.LayoutDirection) -> None:
    desk.resize(1440, 900)
    button = desk.window.dock.generate
    desk.window.setLayoutDirection(direction)
    desk.wait(lambda: button.width() > 200)
    image = button.grab().toImage()
    ground = image.pixel(20, image.height() // 2 - 12)
    # The words are bold and large: more of their columns' pixels are not of the ground's colour.
    inked = [
        sum(image.pixel(x, y) != ground for y in range(8, image.height() - 8))
        for x in range(10, image.width() - 10)
    ]
    gaps = [x for x in range(len(inked) - 24) if not any(inked[x : x + 24])]
    middle = len(inked) // 2
    assert any(inked[:middle])
    assert any(inked[middle:])
    assert gaps
    words, key = (inked[:middle], inked[middle:])[:: 1 if direction == LTR else -1]
    assert sum(words) > sum(key)


@pytest.mark.parametrize("text", ["dreamer", HEBREW])
def test_the_facts_of_a_picture_begin_where_the_window_begins(
    qtbot: QtBot, theme: Theme, text: str
) -> None:
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.show_facts((Fact("Model", text),))
    details.resize(300, 200)
    for direction in (RTL, LTR, RTL):
        details.setLayoutDirection(direction)
        details.grab()
        left, right = ink(details.rows[0].value)
        assert (right < 10 < left) if direction is RTL else (left < 10 < right)
