"""Widgets in lines that wrap: each in the middle of its line, from either side."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.flow_layout import FlowLayout

LTR, RTL = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
SIZES = ((60, 40), (30, 20), (50, 30))


@pytest.mark.parametrize("direction", [LTR, RTL])
def test_lower_widgets_stand_in_the_middle_of_their_line(
    qtbot: QtBot, direction: Qt.LayoutDirection
) -> None:
    whole = QWidget()
    qtbot.addWidget(whole)
    whole.setLayoutDirection(direction)
    layout = FlowLayout(10)
    widgets: list[QWidget] = []
    for size in SIZES:
        widgets.append(QWidget())
        widgets[-1].setFixedSize(*size)
        layout.addWidget(widgets[-1])
    whole.setLayout(layout)
    layout.setGeometry(QRect(0, 0, 100, 200))
    lefts, tops = (0, 70, 0), (0, 10, 50)
    if direction is RTL:
        lefts = (40, 0, 50)
    assert [widget.pos().toTuple() for widget in widgets] == list(zip(lefts, tops, strict=True))
    assert layout.heightForWidth(100) == 80
