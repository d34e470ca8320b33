"""A choice opens a list of our own, within its window, searched by typing, whole by keys."""

import pytest
from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QStringListModel,
    Qt,
)
from PySide6.QtGui import QAccessible, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.app.supervised import PATIENCE_MS
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.choice_popup import ChoicePopup
from ui.widgets.choice_rows import ChoiceDelegate, ChoiceFilter

# What the display of tests says of windows that are no whole application.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

ABOUT = "A sentence about the entry, which is long enough for two lines of a narrow list at least."
KEY = Qt.Key


class Opened:
    """A list that was opened in a window."""

    def __init__(
        self,
        bot: QtBot,
        theme: Theme,
        rows: int,
        *,
        at: float = 0,
        height: int = 600,
        about: str = "",
    ) -> None:
        self.window = QWidget()
        bot.addWidget(self.window)
        self.window.resize(344, height)
        self.box = ChoiceBox(theme)
        self.taken: list[int] = []
        self.box.activated.connect(self.taken.append)
        column = QVBoxLayout(self.window)
        column.addStretch(round(100 * at))
        column.addWidget(self.box)
        column.addStretch(round(100 * (1 - at)))
        for row in range(rows):
            if row and row % 7 == 0:
                self.box.add_heading(f"Group {row // 7}")
            self.box.add_choice(f"Entry {row}", row, about)
        self.window.show()
        bot.waitUntil(self.window.isVisible, timeout=PATIENCE_MS)
        self.box.showPopup()
        QApplication.processEvents()

    @property
    def popup(self) -> ChoicePopup:
        assert self.box.popup is not None
        return self.box.popup

    @property
    def shown(self) -> list[str]:
        """The entries and headings that the list has at present."""
        rows = self.popup.rows
        role = Qt.ItemDataRole
        indexes = [rows.index(row, 0) for row in range(rows.rowCount())]
        return [index.data() or index.data(role.AccessibleTextRole) for index in indexes]

    @property
    def current(self) -> str:
        return self.popup.list.currentIndex().data()

    def press(self, *keys: Qt.Key) -> None:
        for key in keys:
            where = self.popup.focusWidget()
            assert where is not None
            QTest.keyClick(where, key)

    def close(self) -> None:
        self.box.hidePopup()


@pytest.mark.parametrize("rows", [1, 4, 13, 40])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("height", [280, 600])
@pytest.mark.parametrize("about", ["", ABOUT])
def test_the_list_shows_whole_rows_within_the_window(
    qtbot: QtBot, theme: Theme, rows: int, at: float, height: int, about: str
) -> None:
    opened = Opened(qtbot, theme, rows, at=at, height=height, about=about)
    window, view = opened.window, opened.popup.list
    place = opened.popup.geometry()
    assert QRect(window.mapToGlobal(QPoint()), window.size()).contains(place)
    box = QRect(opened.box.mapToGlobal(QPoint()), opened.box.size())
    assert not place.intersects(box)
    seen = view.viewport().rect()
    rects = [view.visualRect(opened.popup.rows.index(row, 0)) for row in range(len(opened.shown))]
    touched = [rect for rect in rects if rect.intersects(seen)]
    # Sentences are as high as they are drawn, with a scroll bar beside them or without one.
    delegate = view.itemDelegate()
    assert isinstance(delegate, ChoiceDelegate)
    assert delegate.width == seen.width()
    if height == 600:
        assert touched
        assert all(seen & rect == rect for rect in touched)
    opened.close()


def test_the_present_choice_is_current_and_visible(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 40)
    opened.close()
    opened.box.setCurrentIndex(opened.box.count() - 1)
    opened.box.showPopup()
    view = opened.popup.list
    assert opened.current == "Entry 39"
    assert view.viewport().rect().contains(view.visualRect(view.currentIndex()))
    opened.close()


def test_keys_move_over_headings_and_choose(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 20)
    opened.press(*[KEY.Key_Down] * 7)
    assert opened.current == "Entry 7"
    opened.press(KEY.Key_Up)
    assert opened.current == "Entry 6"
    opened.press(KEY.Key_End, KEY.Key_Up, KEY.Key_Return)
    assert not opened.popup.isVisible()
    assert opened.box.currentData() == 18
    assert opened.taken == [opened.box.currentIndex()]
    opened.box.showPopup()
    opened.press(KEY.Key_Home, KEY.Key_Escape)
    assert not opened.popup.isVisible()
    assert opened.box.currentData() == 18


def test_typing_searches_names_and_sentences(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 20)
    opened.press(KEY.Key_1, KEY.Key_5)
    assert opened.popup.search.text() == "15"
    assert opened.shown == ["Group 2", "Entry 15"]
    assert opened.current == "Entry 15"
    opened.press(KEY.Key_Backspace)
    assert len(opened.shown) == 2 + 11
    opened.press(KEY.Key_Z)
    assert opened.popup.nothing.isVisible()
    opened.press(KEY.Key_Return)
    assert opened.taken == []
    opened.popup.search.setText("entry 3")
    opened.press(KEY.Key_Return)
    assert opened.box.currentData() == 3
    opened.close()


class Counted(QStringListModel):
    """A list that counts how often its entries are read."""

    reads = 0

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        self.reads += 1
        return super().data(index, role)


def test_a_long_list_is_read_once_for_all_searches(qapp: QApplication) -> None:
    entries, rows = Counted([f"Entry {row}" for row in range(500)]), ChoiceFilter(qapp)
    rows.setSourceModel(entries)
    rows.search("1")
    before = entries.reads
    for text in ("12", "123", "", "49"):
        rows.search(text)
    assert rows.rowCount() == 15
    assert entries.reads == before
    # A list that changes meanwhile is searched as it is now.
    entries.setStringList(["Entry 49", "Entry 50"])
    assert rows.rowCount() == 1


def test_a_short_list_has_its_search_once_somebody_types(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 4, about=ABOUT)
    assert not opened.popup.search.isVisible()
    opened.press(KEY.Key_L, KEY.Key_O)
    assert opened.popup.search.isVisible()
    assert len(opened.shown) == 4
    opened.close()


def test_a_click_chooses_and_one_on_a_heading_does_not(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 10)
    view = opened.popup.list
    left = Qt.MouseButton.LeftButton

    def click(row: int) -> None:
        at = view.visualRect(opened.popup.rows.index(row, 0)).center()
        QTest.mouseClick(view.viewport(), left, pos=at)

    click(7)
    assert opened.popup.isVisible()
    click(2)
    assert not opened.popup.isVisible()
    assert opened.taken == [2]


def test_entries_are_spoken_with_their_sentences(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 3, about="It is quick.")
    opened.box.setAccessibleName("Sampler")
    opened.close()
    opened.box.showPopup()
    view = QAccessible.queryAccessibleInterface(opened.popup.list)
    assert view.text(QAccessible.Text.Name) == "Sampler"
    assert view.child(1).text(QAccessible.Text.Name) == "Entry 1, It is quick."
    opened.close()


def test_the_list_is_mirrored_with_its_box(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 3, about=ABOUT)
    from_left = opened.popup.list.grab().toImage()
    opened.close()
    opened.box.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    opened.box.showPopup()
    assert opened.popup.list.isRightToLeft()
    assert opened.popup.list.grab().toImage() != from_left
    opened.close()


def test_the_list_is_as_high_as_what_was_found(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 20, height=600)
    whole = opened.popup.geometry()
    opened.press(KEY.Key_1, KEY.Key_5)
    found, view = opened.popup.geometry(), opened.popup.list
    assert found.topLeft() == whole.topLeft()
    assert found.height() < whole.height() / 2
    last = view.visualRect(opened.popup.rows.index(len(opened.shown) - 1, 0))
    assert view.viewport().rect().contains(last)
    opened.press(KEY.Key_Z)
    assert opened.popup.height() >= opened.popup.minimumSizeHint().height()
    opened.popup.search.clear()
    assert opened.popup.geometry() == whole
    opened.close()


def test_a_list_above_its_box_keeps_its_height(qtbot: QtBot, theme: Theme) -> None:
    opened = Opened(qtbot, theme, 20, at=1.0, height=600)
    whole = opened.popup.geometry()
    opened.press(KEY.Key_1, KEY.Key_5)
    assert opened.popup.geometry() == whole
    opened.close()


def test_a_long_choice_is_cut_at_its_end(qtbot: QtBot, theme: Theme) -> None:
    box = ChoiceBox(theme)
    qtbot.addWidget(box)
    box.resize(160, box.height())
    for end in ("one", "another"):
        box.addItem(f"Auto · a schedule of a name that is long, {end}")
    first = box.grab().toImage()
    box.setCurrentIndex(1)
    assert box.grab().toImage() == first


@pytest.mark.parametrize("width", [160, 600])
def test_a_choice_that_is_cut_is_told_whole_where_the_mouse_rests(
    qtbot: QtBot, theme: Theme, width: int
) -> None:
    box, name = ChoiceBox(theme), "Auto · a schedule of a name that is long"
    qtbot.addWidget(box)
    box.addItem(name)
    box.resize(width, box.height())
    box.show()
    place = box.rect().center()
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, place, box.mapToGlobal(place)))
    assert QToolTip.text() == (name if width == 160 else "")
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible(), timeout=PATIENCE_MS)


def test_a_long_name_of_a_file_is_cut_in_its_middle(qtbot: QtBot, theme: Theme) -> None:
    box = ChoiceBox(theme, of_files=True)
    qtbot.addWidget(box)
    box.resize(160, box.height())
    for number in (1, 2):
        box.addItem("A model of a name that is long, version " + str(number))
    first = box.grab().toImage()
    box.setCurrentIndex(1)
    assert box.grab().toImage() != first
