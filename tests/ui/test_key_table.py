"""Keys are in the one table: no source and no widget has another, and all follow what is chosen."""

import ast
import re
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.settings.reading import FILE
from tests.app.requests import generation_of
from tests.ended import delete_after_test
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_wheel import DIALOGS
from ui.action_names import ActionName
from ui.action_table import SHARED, entry_of, meet
from ui.gallery.page import GalleryPage
from ui.key_scopes import LISTED
from ui.key_texts import shown_key
from ui.key_tips import follow_keys
from ui.keys import HeldKey, KeyAction, keys
from ui.places import Place
from ui.theme.theme import Theme

ROOT = Path(__file__).parents[2]
CTRL = Qt.KeyboardModifier.ControlModifier
BOUND = tuple(name for name in ActionName if name not in SHARED)

# Where keys are made: the table, and what reads it.
REGISTRY = frozenset({"action_table.py", "keys.py", "key_texts.py"})
# Keys that are the system's in every program: they cannot be chosen, and the sheet names them.
SYSTEM = frozenset({"mac_menus.py", "pasting.py", "settings/fixed_keys.py"})
ARROWS = frozenset({"Key_Left", "Key_Right", "Key_Up", "Key_Down"})
ENDS = frozenset({"Key_Home", "Key_End"})
PAGES = frozenset({"Key_PageUp", "Key_PageDown"})
ENTER = frozenset({"Key_Return", "Key_Enter"})
ESCAPE = frozenset({"Key_Escape"})
SLIDER = frozenset({"Key_Left", "Key_Right", "Key_Delete", "Key_Backspace"}) | ENDS
# What moves within a control, chooses in it or leaves it, by the module of that control.
WITHIN = {
    "dialogs/prompts_dialog.py": frozenset({"Key_Up", "Key_Down"}) | PAGES,
    "dock/queue_drawer.py": ESCAPE,
    "enter_key.py": ENTER,
    "escape_key.py": ESCAPE,
    "files/path_field.py": frozenset({"Key_Up", "Key_Down", "Key_Tab"}) | ENTER | ESCAPE,
    "gallery/compare.py": frozenset({"Key_Left", "Key_Right"}) | ESCAPE,
    "gallery/grid_moves.py": ARROWS | ENDS | PAGES,
    "gallery/grid_view.py": ESCAPE,
    "gallery/rating_field.py": ARROWS,
    "gallery/search_bar.py": frozenset({"Key_Down"}) | ESCAPE,
    "gallery/viewer.py": ESCAPE,
    "panels/batch_panel.py": ARROWS | ENTER,
    "panels/canvas_panel.py": ESCAPE,
    "panels/paint_panel.py": ESCAPE,
    "settings/page.py": frozenset({"Key_Down"}),
    # The button that waits for another key.
    "settings/shortcuts.py": ESCAPE | {
        "Key_Control", "Key_Shift", "Key_Alt", "Key_Meta", "Key_AltGr", "Key_CapsLock",
        "Key_unknown", "Key_Backspace",
    },
    "upscale_popup.py": ENTER | ESCAPE,
    "widgets/card_view.py": ENTER,
    "widgets/choice_popup.py": {"Key_Up", "Key_Down", "Key_Tab", "Key_F4", "Key_Backspace"}
    | ENDS | PAGES | ENTER | ESCAPE,
    "widgets/compare_view.py": frozenset({"Key_Left", "Key_Right"}),
    "widgets/grip.py": frozenset({"Key_Up", "Key_Down"}) | ESCAPE,
    "widgets/option_field.py": frozenset({"Key_Up", "Key_Down"}),
    "widgets/prompt_edit.py": frozenset({"Key_Up", "Key_Down", "Key_Tab"}) | ENTER | ESCAPE,
    "widgets/range_bar.py": SLIDER,
    "widgets/value_slider.py": SLIDER,
    "widgets/zoom_view.py": ARROWS,
}  # fmt: skip
# By which a key does something without a place in the table; letters come as texts of events, too.
MAKING = frozenset({
    "QShortcut", "setShortcut", "setShortcuts", "grabShortcut", "setKey", "setKeys",
})  # fmt: skip
TYPED = {
    "typed_signs.py",
    "widgets/choice_popup.py",
    "widgets/range_bar.py",
    "widgets/value_slider.py",
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield each module of the window by its path, with its syntax tree."""
    for path in sorted((ROOT / "ui").rglob("*.py")):
        yield path.relative_to(ROOT / "ui").as_posix(), ast.parse(path.read_text("utf-8"))


def names_in(tree: ast.Module) -> set[str]:
    """Return the names and attributes that a module uses."""
    nodes = list(ast.walk(tree))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def test_no_key_is_outside_the_table() -> None:
    found = {
        module: {name for name in names_in(tree) if name.startswith("Key_")}
        for module, tree in trees()
        if module not in SYSTEM | REGISTRY
    }
    # A new key of a command belongs into `ui/action_table.py`, not here.
    assert {module: names for module, names in found.items() if names} == WITHIN


def test_no_shortcut_is_made_outside_the_table() -> None:
    made = {module for module, tree in trees() if names_in(tree) & MAKING}
    assert made <= SYSTEM | REGISTRY


def test_no_letter_is_taken_from_the_text_of_an_event() -> None:
    def reads_text(tree: ast.Module) -> bool:
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return any(
            isinstance(call, ast.Attribute)
            and call.attr == "text"
            and isinstance(call.value, ast.Name)
            and call.value.id in ("event", "e", "arg__1")
            for call in calls
        )

    assert {module for module, tree in trees() if reads_text(tree)} == TYPED


@pytest.fixture
def everything(desk: Desk, theme: Theme) -> Iterator[Desk]:
    """A window with every page, the canvas painted on, the viewer, and every dialog."""
    with opened(desk, theme):
        yield desk


@contextmanager
def opened(desk: Desk, theme: Theme) -> Generator[None]:
    """Open every page and dialog of a window, and close the dialogs in the end."""
    window = desk.window
    for place in Place:
        window.places.open(place)
        if isinstance(window.places.page, GalleryPage):
            # Made now.
            assert window.places.page.viewer
            assert window.places.page.comparison
    desk.unfold()
    desk.session.generation.start_from("/a.png", 64, 64)
    desk.session.view.painting = True
    dialogs = [make(desk, theme) for make in DIALOGS.values()]
    QApplication.processEvents()
    yield
    for dialog in dialogs:
        dialog.close()


def actions_of(desk: Desk) -> list[QAction]:
    return [action for action in desk.window.findChildren(QAction) if action.shortcuts()]


def test_no_widget_has_a_key_that_is_not_in_the_table(everything: Desk) -> None:
    window = everything.window
    assert not window.findChildren(QShortcut)
    others = {action for action in actions_of(everything) if not isinstance(action, KeyAction)}
    assert others == {window.pasting.action}


def test_every_key_of_the_table_is_bound(everything: Desk) -> None:
    bound = {ActionName(found.objectName()) for found in everything.window.findChildren(KeyAction)}
    held = {found.name for found in everything.window.findChildren(HeldKey)}
    assert bound | held == set(ActionName)


def test_a_chosen_key_reaches_everything_that_has_it(everything: Desk) -> None:
    chosen = {name: key for name, key in far_keys("Meta+").items() if name in BOUND}
    keys().use(chosen)
    for action in everything.window.findChildren(KeyAction):
        name = ActionName(action.objectName())
        if name in BOUND:
            assert action.shortcuts() == [QKeySequence(chosen[name])]


KEY = re.compile(r"(?:(?:Ctrl|Alt|Shift|Meta)\+)+F\d+")


def far_keys(more: str) -> dict[str, str]:
    """Return a key of its own for each action, which no keyboard has; all have a modifier more."""
    modifiers = ("Ctrl+", "Ctrl+Alt+", "Ctrl+Shift+", "Ctrl+Alt+Shift+")
    free = (f"{more}{held}F{number}" for held in modifiers for number in range(1, 36))
    return {name.value: next(free) for name in ActionName}


def told(desk: Desk) -> dict[tuple[QWidget, str], str]:
    """Return the texts of widgets that name keys, by the widget and its place for the text."""
    said: dict[tuple[QWidget, str], str] = {}
    for widget in desk.window.findChildren(QWidget):
        said[widget, "tooltip"] = widget.toolTip()
        said[widget, "description"] = widget.accessibleDescription()
        if isinstance(widget, QLabel):
            said[widget, "text"] = widget.text()
    return {place: text for place, text in said.items() if KEY.search(text)}


def test_a_chosen_key_is_told_at_once_by_every_widget_that_tells_it(
    make_desk: MakeDesk, theme: Theme, tmp_path: Path
) -> None:
    before, after = far_keys(""), far_keys("Meta+")
    lines = [f'{name} = "{key}"' for name, key in before.items()]
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / FILE).write_text("\n".join(["[shortcuts]", *lines]))
    desk = make_desk()
    with opened(desk, theme):
        others = {
            shown_key(QKeySequence(before[name])): shown_key(QKeySequence(after[name]))
            for name in before
        }
        expected = {
            place: KEY.sub(lambda found: others[found[0]], text)
            for place, text in told(desk).items()
        }
        desk.session.settings.change(shortcuts=after)
        assert told(desk) == expected
        named = {key for text in expected.values() for key in KEY.findall(text)}
        assert len(named) > 50


def test_a_key_that_was_taken_away_leaves_no_brackets(desk: Desk) -> None:
    button = desk.window.dock.cancel
    desk.session.settings.change(shortcuts={"cancel": ""})
    assert (button.toolTip(), button.accessibleDescription()) == ("Cancel", "")


def test_a_widget_that_is_gone_is_told_no_key(qapp: QApplication) -> None:
    held, dropped, told = QWidget(), QWidget(), list[QWidget]()
    follow_keys(held, told.append)
    follow_keys(dropped, QWidget.accessibleName)
    known = weakref.ref(dropped)
    del dropped
    assert known() is None
    told.clear()
    keys().use({"cancel": "K"})
    assert told == [held]
    shiboken6.delete(held)
    told.clear()
    keys().use({"cancel": "L"})
    assert told == []


def test_every_scope_of_a_key_has_its_words() -> None:
    assert {entry_of(name).scope for name in ActionName} == set(LISTED)
    words = [scope.words for scope in LISTED]
    assert len({*words}) == len(words)


def test_places_of_the_focus_decide_which_keys_meet() -> None:
    assert meet(ActionName.TRASH, ActionName.FAVOURITE)
    assert meet(ActionName.MAKE_EARLIER, ActionName.GENERATE)
    assert meet(ActionName.RENAME_PRESET, ActionName.DOWNLOADS)
    assert not meet(ActionName.MAKE_EARLIER, ActionName.OLDER_PROMPT)
    assert not meet(ActionName.RENAME_PRESET, ActionName.GENERATE)
    assert not meet(ActionName.CLOSER, ActionName.LARGER_TILES)


def press(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier | None = None) -> None:
    widget.setFocus()
    QTest.keyClick(widget, key, modifiers or Qt.KeyboardModifier.NoModifier)


def test_another_key_of_the_queue_is_honoured_there(desk: Desk) -> None:
    desk.session.settings.change(shortcuts={"duplicate_job": "K"})
    desk.session.queue.pause(paused=True)
    desk.session.generation.prompt = "a house"
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == 1)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    shown = desk.window.queue.list
    assert shown.selected
    press(shown, Qt.Key.Key_D)
    press(shown, Qt.Key.Key_K)
    desk.wait(lambda: len(desk.queue.jobs) == 2)
    assert [generation_of(job).prompt for job in desk.queue.jobs] == ["a house", "a house"]


def test_another_key_for_weights_is_honoured_in_the_prompt(desk: Desk) -> None:
    desk.session.settings.change(shortcuts={"heavier": "Ctrl+Shift+W"})
    desk.session.generation.prompt = "house"
    prompt = desk.window.form.prompt
    press(prompt, Qt.Key.Key_Up, CTRL)
    assert desk.session.generation.prompt == "house"
    press(prompt, Qt.Key.Key_W, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert desk.session.generation.prompt == "(house:1.1)"


def test_another_key_to_hold_is_honoured(qapp: QApplication) -> None:
    view = QWidget()
    told: list[bool] = []
    HeldKey(view, ActionName.HOLD_START, told.append)
    keys().use({"hold_start": "K"})
    QTest.keyPress(view, Qt.Key.Key_B)
    QTest.keyRelease(view, Qt.Key.Key_B)
    assert told == []
    QTest.keyPress(view, Qt.Key.Key_K)
    assert told == [True]
    QTest.keyRelease(view, Qt.Key.Key_K)
    assert told == [True, False]
    delete_after_test(view)
