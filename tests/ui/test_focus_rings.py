"""The focus can be seen on every kind of control, in every look: its pixels change by 3 to 1."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ui.theme.colours import CONTRAST, DARK, LIGHT, Colours, contrast
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.filled_button import FilledButton
from ui.widgets.icon_button import IconButton
from ui.widgets.number_field import WholeField
from ui.widgets.section import SectionHead
from ui.widgets.tick_box import TickBox
from ui.widgets.value_slider import ValueSlider

# WCAG 2.2, 2.4.13: as many pixels as a line around the control has, of 3 to 1.
_LEAST = 3.0
LOOKS = pytest.mark.parametrize(
    "colours", [DARK, LIGHT, CONTRAST], ids=["dark", "light", "contrast"]
)
_PUSHED = ("", "choice", "link", "flat", "chip")
_TOOLS = ("", "floating", "postcard", "outlined", "place", "status", "filter")


def _with_role(widget: QWidget, role: str) -> QWidget:
    widget.setProperty("role", role)
    return widget


def controls(theme: Theme) -> dict[str, QWidget]:
    """Return a control of each kind and role."""
    made: dict[str, QWidget] = {
        "text": QPlainTextEdit(),
        "line": QLineEdit(),
        "number": WholeField(0, 10),
        "choice": ChoiceBox(theme),
        "list": QListWidget(),
        "places": _with_role(QListWidget(), "places"),
        "tick": TickBox(),
        "named tick": TickBox("Prompts"),
        "slider": ValueSlider((0, 10), 1, (0, 10)),
        "head": SectionHead(theme, "Advanced"),
        "icon": IconButton(theme, "dice", "Dice"),
        "action": FilledButton("Use"),
        "primary": FilledButton("Generate", "primary"),
    }
    made |= {f"button {role}": _with_role(QPushButton("Use"), role) for role in _PUSHED}
    for role in _TOOLS:
        tool = QToolButton()
        tool.setText("Use")
        made[f"tool {role}"] = _with_role(tool, role)
    for role, button in (
        ("choice", QPushButton("Use")),
        ("chip", QPushButton("Use")),
        ("filter", QToolButton()),
        ("outlined", QToolButton()),
        ("floating", QToolButton()),
        ("place", QToolButton()),
        ("", QToolButton()),
    ):
        button.setText("Use")
        button.setCheckable(True)
        button.setChecked(True)
        made[f"checked {role}"] = _with_role(button, role)
    return made


def clear_changes(before: QImage, after: QImage) -> int:
    """Count the pixels that changed by 3 to 1 at least."""
    found = 0
    known: dict[tuple[int, int], bool] = {}
    for y in range(before.height()):
        for x in range(before.width()):
            pair = before.pixel(x, y), after.pixel(x, y)
            if pair[0] != pair[1]:
                if pair not in known:
                    colour, other = (f"#{value & 0xFFFFFF:06x}" for value in pair)
                    known[pair] = contrast(colour, other) >= _LEAST
                found += known[pair]
    return found


def show_dressed(window: QWidget, column: QVBoxLayout, theme: Theme, qtbot: QtBot) -> None:
    """Show a window in the theme, as large as its column wants, and wait until it is active."""
    theme.dress(window)
    # A least size of a window is no matter of the platform that draws off the screen.
    column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
    window.resize(column.sizeHint())
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)


@LOOKS
def test_the_focus_changes_pixels_all_around_a_control(
    qtbot: QtBot, theme: Theme, colours: Colours
) -> None:
    theme.use_colours(colours)
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    begin = QPushButton("Begin")
    column.addWidget(begin)
    made = controls(theme)
    for widget in made.values():
        column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)
    show_dressed(window, column, theme, qtbot)
    weak: list[str] = []
    for name, widget in made.items():
        begin.setFocus()
        QApplication.processEvents()
        before = window.grab(widget.geometry()).toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        assert widget.hasFocus(), name
        after = window.grab(widget.geometry()).toImage()
        # Corners are round, and a mark's focus may be around the mark alone.
        around = 2 * (min(widget.width(), 40) + min(widget.height(), 20))
        changed = clear_changes(before, after)
        if changed < around * 0.5:
            weak.append(f"{name}: {changed} of {around}")
    assert not weak, weak


@LOOKS
def test_the_focus_is_no_second_frame_inside_a_button(
    qtbot: QtBot, theme: Theme, colours: Colours
) -> None:
    # Fusion's own frame, by a key only, is a gradient in the colour of accents.
    theme.use_colours(colours)
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    buttons = {role: _with_role(QPushButton(""), role) for role in _PUSHED}
    buttons["tool"] = QToolButton()
    for button in buttons.values():
        button.setFixedSize(120, 30)
        column.addWidget(button)
    show_dressed(window, column, theme, qtbot)
    # As after the key Tab.
    window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
    for role, button in buttons.items():
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        assert button.hasFocus()
        image = window.grab(button.geometry()).toImage()
        across = {image.pixel(x, image.height() // 2) for x in range(4, image.width() - 4)}
        down = {image.pixel(image.width() // 2, y) for y in range(4, image.height() - 4)}
        assert len(across | down) == 1, role
