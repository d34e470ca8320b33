"""Earlier prompts in the window: steps by keys, and the list."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.conftest import Desk
from ui.dialogs.prompts_dialog import PromptsDialog
from ui.panels.preset_panel import PresetPanel

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def written(desk: Desk) -> Desk:
    for text, negative in (("a red house", "blurry"), ("a blue boat", ""), ("a <b>tree</b>", "")):
        desk.session.earlier.history.add(text, negative)
    desk.session.generation.prompt = "draft"
    return desk


def dialog_of(desk: Desk) -> PromptsDialog:
    panel = desk.window.findChild(PresetPanel)
    assert panel is not None
    return panel.show_earlier()


def test_alt_up_and_down_step_through_prompts_and_back(written: Desk) -> None:
    prompt = written.window.form.prompt
    prompt.setFocus()
    QTest.keyClick(prompt, Qt.Key.Key_Up, ALT)
    assert prompt.toPlainText() == "a <b>tree</b>"
    QTest.keyClick(prompt, Qt.Key.Key_Up, ALT)
    assert prompt.toPlainText() == "a blue boat"
    for _ in range(2):
        QTest.keyClick(prompt, Qt.Key.Key_Down, ALT)
    assert prompt.toPlainText() == "draft"


def test_a_step_is_undone_in_the_prompt_like_an_edit(written: Desk) -> None:
    prompt = written.window.form.prompt
    prompt.setFocus()
    QTest.keyClick(prompt, Qt.Key.Key_Up, ALT)
    prompt.undo()
    assert written.session.generation.prompt == "draft"


def test_a_prompt_is_searched_chosen_by_keys_and_used(written: Desk) -> None:
    dialog = dialog_of(written)
    QTest.keyClicks(dialog.search, "a")
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.whole.text() == "a red house"
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    form = written.session.generation
    assert (form.prompt, form.negative_prompt) == ("a red house", "blurry")
    written.session.notices.notices[-1].undo()  # pyright: ignore[reportOptionalCall]
    assert (form.prompt, form.negative_prompt) == ("draft", "")


def test_prompts_are_forgotten_one_by_one_and_all(written: Desk) -> None:
    dialog = dialog_of(written)
    history = written.session.earlier.history
    dialog.activateWindow()
    written.wait(dialog.isActiveWindow)
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert [prompt.prompt for prompt in history.prompts] == ["a blue boat", "a red house"]
    assert dialog.whole.text() == "a blue boat"
    dialog.clear.click()
    assert history.prompts == ()
    assert not dialog.clear.isEnabled()
    assert not dialog.use.isEnabled()


def test_a_search_that_finds_nothing_says_so(written: Desk) -> None:
    dialog = dialog_of(written)
    QTest.keyClicks(dialog.search, "zebra")
    assert not dialog.use.isEnabled()
    assert "No earlier prompt" in dialog.whole.text()
