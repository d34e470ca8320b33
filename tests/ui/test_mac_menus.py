"""On a Mac the menus have what its programs all have, under keys that macOS takes from them."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDialog,
    QLineEdit,
    QListView,
    QMainWindow,
    QMenu,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.settings.values import Language
from tests.ended import delete_after_test
from tests.ui.kept_language import kept_language
from ui.actions import ActionName, Actions
from ui.key_texts import portable
from ui.languages.use import use_language
from ui.menus import MenuBar

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

WORDS = {
    Language.ENGLISH: ["Cut", "Copy", "Paste", "Select All"],
    Language.GERMAN: ["Ausschneiden", "Kopieren", "Einfügen", "Alles auswählen"],
}


class Window(QMainWindow):
    """A window with a Mac's menus, a field and a list; it counts how often it came forward."""

    def __init__(self, system: str = "darwin") -> None:
        super().__init__()
        delete_after_test(self)
        self.raised = 0
        self.actions_by_name = Actions(self)
        self.paste = QAction("Paste a picture or a model", self)
        self.paste.setShortcut(QKeySequence("Ctrl+V"))
        self.addAction(self.paste)
        self.bar = MenuBar(self.actions_by_name, self.paste, self, system)
        self.setMenuBar(self.bar)
        self.field, self.list = QLineEdit(), QListView()
        self.list.setModel(QStringListModel(["a", "b"], self.list))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.whole = QWidget()
        self.setCentralWidget(self.whole)
        column = QVBoxLayout(self.whole)
        column.addWidget(self.field)
        column.addWidget(self.list)

    def raise_(self) -> None:
        """Come forward."""
        self.raised += 1
        super().raise_()

    @property
    def items(self) -> dict[str, QAction]:
        """The items of the menus by their words."""
        menus = self.bar.findChildren(QMenu)
        return {item.text(): item for menu in menus for item in menu.actions() if item.text()}


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    shown = Window()
    shown.show()
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow)
    return shown


@pytest.fixture
def _own_language(qapp: QApplication) -> Iterator[None]:
    with kept_language(qapp):
        yield


@pytest.mark.usefixtures("_own_language")
@pytest.mark.parametrize("language", WORDS)
def test_qt_knows_the_entries_that_questions_for_files_need(
    qapp: QApplication, language: Language
) -> None:
    """Qt goes by its own words, of entries that leave that to it; two of one kind become one."""
    use_language(qapp, language, {})
    bar = Window().bar
    every = [item for menu in bar.findChildren(QMenu) for item in menu.actions()]
    guessed = [
        item
        for item in every
        if item.menuRole() is QAction.MenuRole.TextHeuristicRole and not item.isSeparator()
    ]
    assert [item.text() for item in guessed] == WORDS[language]
    assert all(item in bar.edits.actions() for item in guessed)
    keys = [portable(item.shortcut()) for item in guessed]
    assert keys == ["Ctrl+X", "Ctrl+C", "Ctrl+V", "Ctrl+A"]
    assert [portable(item.shortcut()) for item in every if item not in guessed].count("Ctrl+C") == 0


def test_the_entries_edit_the_field_with_the_focus(window: Window) -> None:
    copied: list[object] = []
    window.actions_by_name[ActionName.COPY_PICTURE].triggered.connect(copied.append)
    window.field.setText("a cat")
    window.field.setFocus()
    window.items["Select All"].trigger()
    window.items["Cut"].trigger()
    assert window.field.text() == ""
    window.items["Paste"].trigger()
    window.items["Paste"].trigger()
    assert window.field.text() == "a cata cat"
    window.field.selectAll()
    window.items["Copy"].trigger()
    assert QApplication.clipboard().text() == "a cata cat"
    assert not copied


def test_elsewhere_the_entries_do_what_their_keys_do(window: Window) -> None:
    done: list[str] = []
    copying = window.actions_by_name[ActionName.COPY_PICTURE]
    copying.triggered.connect(lambda: done.append("copy"))
    window.paste.triggered.connect(lambda: done.append("paste"))
    window.list.setFocus()
    window.items["Copy"].trigger()
    window.items["Paste"].trigger()
    assert done == ["copy", "paste"]
    copying.setEnabled(False)
    window.items["Copy"].trigger()
    assert done == ["copy", "paste"]
    window.items["Select All"].trigger()
    assert len(window.list.selectedIndexes()) == 2


def test_a_key_of_one_widget_is_pressed_there_alone(window: Window) -> None:
    done: list[str] = []
    for widget, name in ((window.list, "list"), (window.whole, "around")):
        action = QAction(name, widget)
        action.setShortcut(QKeySequence("Ctrl+X"))
        action.triggered.connect(lambda _=False, name=name: done.append(name))
        widget.addAction(action)
    window.list.setFocus()
    window.items["Cut"].trigger()
    for widget in (window.list, window.whole):
        widget.actions()[0].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    window.items["Cut"].trigger()
    assert done == ["list", "list"]
    window.list.removeAction(window.list.actions()[0])
    window.items["Cut"].trigger()
    assert done == ["list", "list"]


def test_the_menu_of_windows_shrinks_and_zooms_the_one_in_front(
    window: Window, qtbot: QtBot
) -> None:
    assert [title.text() for title in window.bar.actions()][-2:] == ["Window", "&Help"]
    window.items["Zoom"].trigger()
    qtbot.waitUntil(window.isMaximized)
    window.items["Zoom"].trigger()
    qtbot.waitUntil(lambda: not window.isMaximized())
    assert portable(window.items["Minimise"].shortcut()) == "Ctrl+M"
    window.items["Minimise"].trigger()
    qtbot.waitUntil(window.isMinimized)


def test_all_windows_that_are_open_come_forward(window: Window, qtbot: QtBot) -> None:
    others = [Window() for _ in range(3)]
    others[0].show()
    others[1].showMinimized()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.items["Bring all to front"].trigger()
    assert [other.raised for other in (window, *others)] == [1, 1, 0, 0]


def test_the_key_that_closes_a_window_everywhere_closes_it(window: Window) -> None:
    closing = window.items["Close window"]
    assert closing in window.bar.files.actions()
    assert portable(closing.shortcut()) == "Ctrl+W"
    closing.trigger()
    assert not window.isVisible()


def test_no_window_is_closed_or_shrunk_behind_a_question(window: Window) -> None:
    """One for files is a hidden dialog to Qt: macOS shows its own."""
    question = QDialog(window)
    question.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    question.open()
    assert QApplication.activeModalWidget() is question
    for words in ("Close window", "Minimise", "Zoom"):
        window.items[words].trigger()
    assert window.isVisible()
    assert not window.isMinimized()
    assert not window.isMaximized()
    question.close()
    window.items["Close window"].trigger()
    assert not window.isVisible()


def test_other_systems_have_none_of_these(qapp: QApplication) -> None:
    of_linux, of_mac = Window("linux"), Window()
    assert of_linux.paste in of_linux.bar.edits.actions()
    assert of_mac.paste not in of_mac.bar.edits.actions()
    only = {"Window", "Minimise", "Zoom", "Bring all to front", "Close window"}
    assert not (only | {"Cut", "Copy", "Select All"}) & of_linux.items.keys()
