"""A drop-down list shows whole rows, a dozen at most, and keeps within its window."""

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.app.supervised import PATIENCE_MS
from ui.theme.theme import Theme
from ui.widgets.choice_box import MOST_ROWS, ChoiceBox

# What the display of tests says of windows that are no whole application.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Opened:
    """A list that was opened in a window."""

    def __init__(self, bot: QtBot, theme: Theme, rows: int, *, at: float, height: int) -> None:
        self.window = QWidget()
        bot.addWidget(self.window)
        self.window.resize(344, height)
        self.box = ChoiceBox(theme)
        column = QVBoxLayout(self.window)
        column.addStretch(round(100 * at))
        column.addWidget(self.box)
        column.addStretch(round(100 * (1 - at)))
        for row in range(rows):
            if row and row % 7 == 0:
                self.box.add_heading("More of them")
            self.box.addItem(f"Entry {row}", row)
        self.window.show()
        bot.waitUntil(self.window.isVisible, timeout=PATIENCE_MS)
        self.box.showPopup()
        QApplication.processEvents()

    @property
    def popup(self) -> QRect:
        """The popup's place on the screen."""
        popup = self.box.view().window()
        return popup.geometry()

    def close(self) -> None:
        self.box.hidePopup()

    def cut_rows(self) -> list[int]:
        """Rows of which a part is seen."""
        view = self.box.view()
        seen = view.viewport().rect()
        rects = (view.visualRect(view.model().index(row, 0)) for row in range(self.box.count()))
        return [
            row for row, rect in enumerate(rects) if rect.intersects(seen) and rect & seen != rect
        ]


@pytest.mark.parametrize("rows", [1, 2, 4, 12, 13, 40])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("height", [200, 600])
def test_the_list_shows_whole_rows_within_the_window(
    qtbot: QtBot, theme: Theme, rows: int, at: float, height: int
) -> None:
    opened = Opened(qtbot, theme, rows, at=at, height=height)
    view, window = opened.box.view(), opened.window
    inside = QRect(window.mapToGlobal(QPoint()), window.size())
    assert inside.contains(opened.popup)
    # It fills its popup: no scroller of Qt's above or below it, no second frame around it.
    assert view.geometry() == QRect(QPoint(), opened.popup.size())
    height_of_row = view.sizeHintForRow(0)
    seen, rest = divmod(view.viewport().height(), height_of_row)
    assert rest == 0
    assert 1 <= seen <= MOST_ROWS
    for place in (view.verticalScrollBar().minimum(), view.verticalScrollBar().maximum()):
        view.verticalScrollBar().setValue(place)
        assert opened.cut_rows() == []
    if height == 600 and rows <= MOST_ROWS - 1 and at != 0.5:
        assert seen == opened.box.count()
    opened.close()


def test_the_chosen_row_is_visible(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 40, at=0.0, height=600)
    opened.close()
    opened.box.setCurrentIndex(opened.box.count() - 1)
    opened.box.showPopup()
    view = opened.box.view()
    last = view.visualRect(view.model().index(opened.box.count() - 1, 0))
    assert view.viewport().rect().contains(last)
    opened.close()


def test_the_list_does_not_cover_its_box(qtbot: QtBot, theme: Theme) -> None:
    for at in (0.0, 1.0):
        opened = Opened(qtbot, theme, 9, at=at, height=600)
        box = QRect(opened.box.mapToGlobal(QPoint()), opened.box.size())
        assert not opened.popup.intersects(box)
        assert opened.popup.width() == box.width()
        opened.close()


def test_a_long_name_is_cut_in_its_middle(qtbot: QtBot, theme: Theme) -> None:
    box = ChoiceBox(theme)
    qtbot.addWidget(box)
    box.resize(160, box.height())
    for number in (1, 2):
        box.addItem("A model of a name that is long, version " + str(number))
    first = box.grab().toImage()
    box.setCurrentIndex(1)
    assert box.grab().toImage() != first
