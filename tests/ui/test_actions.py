"""Each action has a key, and no two have the same in one place."""

from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests.app.fake_engine import Plan
from tests.ended import delete_after_test
from tests.ui.conftest import Desk, MakeDesk
from ui.action_table import SHARED, entry_of, meet, text_of, usual_keys
from ui.actions import PAINTING, ActionName, Actions
from ui.key_texts import portable
from ui.keys import keys
from ui.menus import MenuBar
from ui.places import Place

# Keys that macOS acts on itself, in whatever program: support.apple.com/102650. ⌘ is Ctrl for Qt.
OF_MACOS = (
    "Ctrl+H", "Ctrl+Alt+H", "Ctrl+Q", "Ctrl+Shift+Q", "Ctrl+Alt+Shift+Q", "Ctrl+Meta+Q",
    "Ctrl+Meta+F", "Ctrl+Alt+D", "Ctrl+Alt+Esc", "Ctrl+Space", "Ctrl+Tab", "Ctrl+Shift+3",
    "Ctrl+Shift+4", "Ctrl+Shift+5", "F11", "Ctrl+M", "Ctrl+Alt+M", "Ctrl+W",
)  # fmt: skip


def shared_keys() -> list[tuple[ActionName, ActionName]]:
    """Return the pairs of actions that one key triggers in one place."""
    found = {name: {portable(key) for key in keys().of(name)} for name in ActionName}
    assert not any("" in of_one for of_one in found.values())
    pairs = combinations(ActionName, 2)
    return [
        (name, other) for name, other in pairs if found[name] & found[other] and meet(name, other)
    ]


def test_every_action_has_a_key_of_its_own(desk: Desk) -> None:
    assert all(keys().of(name) for name in ActionName)
    assert shared_keys() == []
    for name in SHARED:
        assert desk.window.actions_by_name[name].shortcuts() == list(keys().of(name))


def test_every_action_has_a_name_of_its_own_where_it_works() -> None:
    names = [(entry_of(name).scope, text_of(name)) for name in ActionName]
    assert all(text for _, text in names)
    assert len(set(names)) == len(names)


def test_every_action_does_something(desk: Desk) -> None:
    # A page connects its own actions when it is made.
    desk.window.places.open(Place.GALLERY)
    shown = [action for action in desk.window.actions_by_name.all() if action.isVisible()]
    for action in shown:
        assert action.receivers("2triggered(bool)") > 0, action.text()  # pyright: ignore[reportArgumentType]


def test_escape_cancels_and_control_enter_generates(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(steps=100_000, step_seconds=0.01))
    desk.start()
    prompt = desk.window.form.prompt
    QTest.keyClick(prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: desk.queue.running is not None)
    QTest.keyClick(prompt, Qt.Key.Key_Escape)
    desk.wait_for_jobs(1)
    assert prompt.toPlainText() == desk.session.generation.prompt
    assert "\n" not in prompt.toPlainText()


def test_control_e_leads_to_the_prompt(desk: Desk) -> None:
    desk.window.form.advanced.rows.steps.slider.setFocus()
    QTest.keyClick(
        desk.window.form.advanced.rows.steps.slider,
        Qt.Key.Key_E,
        Qt.KeyboardModifier.ControlModifier,
    )
    assert desk.window.form.prompt.hasFocus()


def test_a_key_that_is_held_does_one_deed_and_no_thirty(desk: Desk) -> None:
    actions = desk.window.actions_by_name
    once = (ActionName.GENERATE, ActionName.CANCEL, ActionName.TRASH, ActionName.PAINT)
    assert not any(actions[name].autoRepeat() for name in once)
    assert all(actions[name].autoRepeat() for name in (ActionName.ZOOM_IN, ActionName.OLDER_PROMPT))


def test_no_action_has_a_key_that_macos_takes_for_itself() -> None:
    taken = {portable(QKeySequence(key)) for key in OF_MACOS}
    usual = {name: {*map(portable, usual_keys(name, "darwin"))} for name in ActionName}
    assert {name for name in ActionName if usual[name] & taken} == {ActionName.QUIT}


def test_no_two_actions_have_the_same_key_on_a_mac() -> None:
    usual = {name: {*map(portable, usual_keys(name, "darwin"))} for name in ActionName}
    assert all(usual.values())
    assert not [
        (name, other)
        for name, other in combinations(ActionName, 2)
        if usual[name] & usual[other] and meet(name, other)
    ]


def test_settings_and_quit_alone_go_into_the_menu_of_the_application(desk: Desk) -> None:
    actions = desk.window.actions_by_name
    none = QAction.MenuRole.NoRole
    roles = {name: actions[name].menuRole() for name in SHARED}
    assert {name: role for name, role in roles.items() if role is not none} == {
        ActionName.SETTINGS: QAction.MenuRole.PreferencesRole,
        ActionName.QUIT: QAction.MenuRole.QuitRole,
    }


@pytest.fixture
def mac_menus(qapp: QApplication) -> tuple[Actions, list[QAction]]:
    """Actions, and the items of the menus that macOS would show of them."""
    window = QWidget()
    delete_after_test(window)
    actions = Actions(window)
    bar = MenuBar(actions, QAction("Paste", window), window, "darwin")
    return actions, [item for menu in bar.findChildren(QMenu) for item in menu.actions()]


def test_no_menu_of_a_mac_has_the_key_of_a_part_of_the_window(
    mac_menus: tuple[Actions, list[QAction]],
) -> None:
    actions, items = mac_menus
    of_a_part = {
        portable(key) for name in (ActionName.TRASH, *PAINTING) for key in actions[name].shortcuts()
    }
    shown = {portable(key) for item in items for key in item.shortcuts()}
    assert {"Ctrl+Return", "Ctrl+O"} <= shown
    assert not shown & of_a_part


def test_a_menu_of_a_mac_does_what_the_action_does_while_that_is_possible(
    mac_menus: tuple[Actions, list[QAction]],
) -> None:
    actions, items = mac_menus
    trash = actions[ActionName.TRASH]
    (item,) = (item for item in items if item.text() == trash.text())
    done: list[str] = []
    trash.triggered.connect(lambda: done.append("trash"))
    item.trigger()
    assert done == ["trash"]
    trash.setEnabled(False)
    assert not item.isEnabled()
    trash.setVisible(False)
    assert not item.isVisible()
