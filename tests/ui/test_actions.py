"""Each action has a key, and no two have the same."""

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from ui.actions import ActionName


def test_every_action_has_a_key_of_its_own(desk: Desk) -> None:
    actions = desk.window.actions_by_name.all()
    assert len(actions) == len(ActionName)
    keys = Counter(
        key.toString(QKeySequence.SequenceFormat.PortableText)
        for action in actions
        for key in action.shortcuts()
    )
    assert all(action.shortcuts() for action in actions)
    assert [key for key, count in keys.items() if count > 1 or not key] == []


def test_every_action_has_a_name_of_its_own(desk: Desk) -> None:
    names = [action.text() for action in desk.window.actions_by_name.all()]
    assert all(names)
    assert len(set(names)) == len(names)


def test_every_action_does_something(desk: Desk) -> None:
    for action in desk.window.actions_by_name.all():
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
    desk.window.form.steps.slider.setFocus()
    QTest.keyClick(desk.window.form.steps.slider, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.form.prompt.hasFocus()
