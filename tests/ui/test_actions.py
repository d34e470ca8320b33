"""Each action has a key, and no two have the same in one place."""

from itertools import combinations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from ui.actions import ActionName, Actions, meet
from ui.key_texts import portable
from ui.places import Place


def shared_keys(actions: Actions) -> list[tuple[ActionName, ActionName]]:
    """Return the pairs of actions that one key triggers in one place."""
    keys = {name: {portable(key) for key in actions[name].shortcuts()} for name in ActionName}
    assert not any("" in found for found in keys.values())
    pairs = combinations(ActionName, 2)
    return [
        (name, other) for name, other in pairs if keys[name] & keys[other] and meet(name, other)
    ]


def test_every_action_has_a_key_of_its_own(desk: Desk) -> None:
    actions = desk.window.actions_by_name
    assert all(actions[name].shortcuts() for name in ActionName)
    assert shared_keys(actions) == []


def test_every_action_has_a_name_of_its_own(desk: Desk) -> None:
    names = [action.text() for action in desk.window.actions_by_name.all()]
    assert all(names)
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
