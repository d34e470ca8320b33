"""Keys are changed by pressing others; no two actions ever have the same."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.notices.remedies import NoticeAction
from tests.ui.conftest import Desk
from tests.ui.test_actions import shared_keys
from ui.action_table import text_of, usual_keys
from ui.actions import ActionName, Actions
from ui.key_texts import portable
from ui.keys import keys
from ui.models.page import ModelsPage
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.settings.shortcuts import KeyButton

CTRL = Qt.KeyboardModifier.ControlModifier


def keys_of(name: ActionName) -> list[str]:
    return [portable(key) for key in keys().of(name)]


def press(page: SettingsPage, name: ActionName, key: Qt.Key, *modifiers: object) -> None:
    button = page.shortcuts.rows[name].key
    button.setFocus()
    button.click()
    assert "Press" in button.text()
    QTest.keyClick(button, key, *modifiers)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert not button.isChecked()


def test_f1_shows_the_shortcuts(new_desk: Desk) -> None:
    QTest.keyClick(new_desk.window, Qt.Key.Key_F1)
    assert new_desk.window.places.place is Place.SETTINGS
    (page,) = new_desk.window.findChildren(SettingsPage)
    new_desk.wait(lambda: page.sections[page.navigation.currentRow()].title == "Shortcuts")


def test_the_key_that_pastes_is_in_the_list(desk: Desk, page: SettingsPage) -> None:
    # It is the same in every program, and cannot be changed.
    (section,) = [section for section in page.sections if section.title == "Shortcuts"]
    (row,) = [row for row in section.made if row.title.text().startswith("Paste")]
    (button,) = row.findChildren(KeyButton)
    assert (button.text(), button.isEnabled()) == ("Ctrl+V", False)


def test_a_pressed_key_is_that_of_the_action_and_kept(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.GENERATE, Qt.Key.Key_G, CTRL)
    assert keys_of(ActionName.GENERATE) == ["Ctrl+G"]
    assert desk.session.settings.now.shortcuts == {"generate": "Ctrl+G"}
    row = page.shortcuts.rows[ActionName.GENERATE]
    assert row.key.text() == "Ctrl+G"
    row.back.click()
    assert keys_of(ActionName.GENERATE) == ["Ctrl+Return", "Ctrl+Return"]
    assert desk.session.settings.now.shortcuts == {}


def test_a_key_of_another_action_is_taken_only_when_asked(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.GENERATE, Qt.Key.Key_O, CTRL)
    clash = page.shortcuts.rows[ActionName.GENERATE].clash
    assert clash is not None
    assert text_of(ActionName.OPEN) in clash.problem.text().replace("\u200b", "")
    assert desk.session.settings.now.shortcuts == {}
    clash.take_over.click()
    assert keys_of(ActionName.GENERATE) == ["Ctrl+O"]
    assert keys_of(ActionName.OPEN) == []
    assert page.shortcuts.rows[ActionName.OPEN].key.text() == "No key"
    # Back to the usual key, which is taken: asked again.
    other = page.shortcuts.rows[ActionName.OPEN]
    other.back.click()
    assert keys_of(ActionName.OPEN) == []
    assert other.clash is not None
    other.clash.take_over.click()
    assert keys_of(ActionName.OPEN) == ["Ctrl+O"]
    assert keys_of(ActionName.GENERATE) == []


def test_a_key_may_have_two_meanings_in_two_places(desk: Desk, page: SettingsPage) -> None:
    assert keys_of(ActionName.INVERT_MASK) == ["I"]
    press(page, ActionName.FAVOURITE, Qt.Key.Key_I)
    assert keys_of(ActionName.FAVOURITE) == ["I"] == keys_of(ActionName.INVERT_MASK)
    press(page, ActionName.FAVOURITE, Qt.Key.Key_X)
    assert keys_of(ActionName.FAVOURITE) == ["I"]


def test_the_key_of_a_menu_is_refused(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.REVEAL, Qt.Key.Key_H, Qt.KeyboardModifier.AltModifier)
    clash = page.shortcuts.rows[ActionName.REVEAL].clash
    assert clash is not None
    assert "Help" in clash.problem.text()
    assert desk.session.settings.now.shortcuts == {}
    # In the file, or with a language whose menu has another key, it is passed over.
    keys().use({"reveal": "Alt+H"})
    assert keys_of(ActionName.REVEAL) == []


def test_the_key_that_pastes_is_refused(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.MODELS, Qt.Key.Key_V, CTRL)
    clash = page.shortcuts.rows[ActionName.MODELS].clash
    assert clash is not None
    assert clash.problem.text() == "Ctrl+V pastes, in every program."
    assert not clash.take_over.isVisible()
    assert desk.session.settings.now.shortcuts == {}
    # In the file it is passed over: of two actions with one key, Qt triggers none.
    keys().use({"models": "Ctrl+V"})
    assert keys_of(ActionName.MODELS) == []


def test_another_key_to_search_with_serves_every_page(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.FIND, Qt.Key.Key_G, CTRL)
    # The usual one is free for an action of the whole window.
    press(page, ActionName.GALLERY, Qt.Key.Key_F, CTRL)
    page.navigation.setFocus()
    QTest.keyClick(page.navigation, Qt.Key.Key_G, CTRL)
    assert page.search.hasFocus()
    desk.window.places.open(Place.MODELS)
    (models,) = desk.window.findChildren(ModelsPage)
    QTest.keyClick(models.yours.list, Qt.Key.Key_G, CTRL)
    assert models.yours.search.hasFocus()
    QTest.keyClick(models.yours.list, Qt.Key.Key_F, CTRL)
    assert desk.window.places.place is Place.GALLERY


def test_keys_for_typing_are_refused(desk: Desk, page: SettingsPage) -> None:
    for key in (Qt.Key.Key_G, Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Tab):
        press(page, ActionName.REVEAL, key)
        clash = page.shortcuts.rows[ActionName.REVEAL].clash
        assert clash is not None
        assert clash.problem.text()
        assert not clash.take_over.isVisible()
    assert desk.session.settings.now.shortcuts == {}


def test_a_letter_alone_is_the_key_of_a_tool(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.BRUSH, Qt.Key.Key_P)
    assert keys_of(ActionName.BRUSH) == ["P"]


def test_escape_keeps_the_key_and_backspace_takes_it_away(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.REVEAL, Qt.Key.Key_Escape)
    assert desk.session.settings.now.shortcuts == {}
    press(page, ActionName.REVEAL, Qt.Key.Key_Backspace)
    assert desk.session.settings.now.shortcuts == {"reveal": ""}
    assert keys_of(ActionName.REVEAL) == []


def test_keys_that_are_pressed_do_nothing_else_meanwhile(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.REVEAL, Qt.Key.Key_1, CTRL)
    assert desk.window.places.place is Place.SETTINGS


def test_a_reset_of_all_keys_is_undone(desk: Desk, page: SettingsPage) -> None:
    session = desk.session
    session.settings.change(shortcuts={"generate": "Ctrl+G", "open": ""})
    page.shortcuts.reset.click()
    assert session.settings.now.shortcuts == {}
    notice = session.notices.notices[-1]
    assert notice.actions == (NoticeAction.UNDO_CHANGE,)
    session.remedies.act(notice, NoticeAction.UNDO_CHANGE)
    assert session.settings.now.shortcuts == {"generate": "Ctrl+G", "open": ""}


def test_keys_changed_in_the_file_act_at_once(desk: Desk, page: SettingsPage) -> None:
    settings_file = desk.session.settings.path
    settings_file.parent.mkdir(parents=True, exist_ok=True)
    settings_file.write_text('shortcuts = { generate = "Ctrl+G", nonsense = "Ctrl+H" }\n')
    desk.session.settings.look_again()
    desk.wait(lambda: page.shortcuts.rows[ActionName.GENERATE].key.text() == "Ctrl+G")


KEYS = st.sampled_from(
    ["", "Ctrl+O", "Ctrl+Return", "Ctrl+Enter", "F1", "Tab", "nonsense", "Ctrl++"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(chosen=st.dictionaries(st.sampled_from([*ActionName, "unknown"]), KEYS))
def test_no_two_actions_ever_have_the_same_key(qtbot: QtBot, chosen: dict[str, str]) -> None:
    window = QWidget()
    Actions(window, chosen)
    assert shared_keys() == []
    assert not any("Tab" in keys_of(name) for name in ActionName)
    keys().use({})
    for name in ActionName:
        assert keys_of(name)[0] == portable(usual_keys(name)[0])


def test_an_action_keeps_the_key_that_is_not_taken_from_it(desk: Desk, page: SettingsPage) -> None:
    press(page, ActionName.REVEAL, Qt.Key.Key_Comma, CTRL)
    clash = page.shortcuts.rows[ActionName.REVEAL].clash
    assert clash is not None
    clash.take_over.click()
    assert keys_of(ActionName.REVEAL) == ["Ctrl+,"]
    assert keys_of(ActionName.SETTINGS) == ["Ctrl+4"]


def test_keys_of_a_part_are_found_by_its_name_and_changed(desk: Desk, page: SettingsPage) -> None:
    row = page.shortcuts.rows[ActionName.DUPLICATE_JOB]
    assert row.matches(["queue", "duplicate"])
    assert row.matches(["in the queue", "d"])
    assert row.key.accessibleDescription() == "In the queue"
    press(page, ActionName.DUPLICATE_JOB, Qt.Key.Key_K)
    assert keys_of(ActionName.DUPLICATE_JOB) == ["K"]
    assert desk.session.settings.now.shortcuts == {"duplicate_job": "K"}


def test_further_keys_are_named_and_found(page: SettingsPage) -> None:
    row = page.shortcuts.rows[ActionName.SHORTCUTS]
    assert (row.key.text(), row.also.text()) == ("F1", "also Ctrl+/")
    assert row.matches(["ctrl+/"])


def test_a_clash_names_the_part_in_which_the_other_key_works(page: SettingsPage) -> None:
    press(page, ActionName.GENERATE, Qt.Key.Key_Up, CTRL)
    clash = page.shortcuts.rows[ActionName.GENERATE].clash
    assert clash is not None
    assert "More weight" in clash.problem.text()
    assert "In a prompt" in clash.problem.text()


def test_escape_leads_back_and_is_no_key_of_a_part(desk: Desk, page: SettingsPage) -> None:
    row = page.shortcuts.rows[ActionName.REMOVE_JOB]
    desk.session.settings.change(shortcuts={"cancel": ""})
    row.want(QKeySequence("Esc"))
    assert row.clash is not None
    assert row.clash.problem.text()
    assert keys_of(ActionName.REMOVE_JOB) == ["Del"]


def test_a_picture_alone_may_have_the_keys_that_move_elsewhere(page: SettingsPage) -> None:
    press(page, ActionName.PICTURE_AFTER, Qt.Key.Key_Space)
    clash = page.shortcuts.rows[ActionName.PICTURE_AFTER].clash
    assert clash is not None
    assert "Back to all pictures" in clash.problem.text()
    clash.take_over.click()
    assert keys_of(ActionName.PICTURE_AFTER) == ["Space"]
    assert keys_of(ActionName.ALL_PICTURES)[0] == "Return"
    press(page, ActionName.MAKE_NEXT, Qt.Key.Key_Space)
    assert keys_of(ActionName.MAKE_NEXT) == ["Alt+Home"]
