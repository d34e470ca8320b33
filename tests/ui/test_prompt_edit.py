"""The prompt's keys: weights, and the list of names that complete what is written."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest

from app.form.completions import NameKind
from engine.api.prompts import PromptCheck
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName
from tests.ui.conftest import Desk, MakeDesk
from ui.delegates.completion_delegate import KIND_ROLE
from ui.widgets.completion_list import CompletionList
from ui.widgets.prompt_edit import PromptEdit

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


def typed(desk: Desk, text: str) -> PromptEdit:
    prompt = desk.window.form.prompt
    prompt.setFocus()
    prompt.clear()
    QTest.keyClicks(prompt, text)
    return prompt


def names(desk: Desk) -> CompletionList:
    shown = desk.window.form.prompt.names
    assert shown is not None
    return shown


@pytest.fixture
def words(desk: Desk) -> Desk:
    store = desk.session.wildcards
    store.write("animal", "cat\n")
    store.write("antler", "big\n")
    desk.wait(lambda: store.names == ("animal", "antler"))
    desk.session.loras.embeddings = ("easynegative",)
    return desk


def test_control_and_an_arrow_change_the_weight_in_single_steps_back(desk: Desk) -> None:
    prompt, form = desk.window.form.prompt, desk.session.generation
    form.prompt = "a red 😀 house"
    prompt.moveCursor(QTextCursor.MoveOperation.End)
    for _ in range(2):
        QTest.keyClick(prompt, Qt.Key.Key_Up, CONTROL)
    assert form.prompt == "a red 😀 (house:1.2)"
    QTest.keyClick(prompt, Qt.Key.Key_Down, CONTROL | SHIFT)
    assert form.prompt == "a red 😀 (house:1.15)"
    prompt.undo()
    assert form.prompt == "a red 😀 (house:1.2)"
    prompt.undo()
    assert form.prompt == "a red 😀 (house:1.1)"


def test_weights_are_written_as_the_followed_tool_reads_them(desk: Desk) -> None:
    desk.session.generation.convention = ConventionName.INVOKE
    prompt = typed(desk, "a red house")
    QTest.keyClick(prompt, Qt.Key.Key_Up, CONTROL)
    assert desk.session.generation.prompt == "a red (house)1.1"


def test_a_name_is_taken_by_the_keyboard(words: Desk) -> None:
    prompt = typed(words, "a __an")
    assert names(words).isVisible()
    QTest.keyClick(prompt, Qt.Key.Key_Down)
    current = names(words).current
    assert current is not None
    assert (current.kind, current.name) == (NameKind.WILDCARD, "antler")
    QTest.keyClick(prompt, Qt.Key.Key_Tab)
    assert words.session.generation.prompt == "a __antler__"
    assert prompt.hasFocus()
    assert not names(words).isVisible()
    # Without a list Tab leaves the field again.
    QTest.keyClick(prompt, Qt.Key.Key_Tab)
    assert not prompt.hasFocus()


def test_a_name_is_taken_by_the_mouse(words: Desk) -> None:
    typed(words, "an easyn")
    shown = names(words)
    place = shown.visualItemRect(shown.item(0)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert words.session.generation.prompt == "an easynegative"


def test_the_kind_of_a_name_is_written_beside_it(words: Desk) -> None:
    typed(words, "an easyn")
    shown = names(words)
    assert shown.item(0).data(KIND_ROLE) == "embedding"
    before = shown.grab().toImage()
    shown.item(0).setData(KIND_ROLE, "LoRA")
    assert shown.grab().toImage() != before


def test_escape_hides_the_names_and_cancels_nothing(words: Desk) -> None:
    prompt = typed(words, "a __an")
    cancelled: list[bool] = []
    words.session.jobs.cancel = lambda: cancelled.append(True)  # pyright: ignore[reportAttributeAccessIssue]
    QTest.keyClick(prompt, Qt.Key.Key_Escape)
    assert not names(words).isVisible()
    assert words.session.generation.prompt == "a __an"
    assert cancelled == []


def test_the_field_grows_with_its_text(desk: Desk) -> None:
    negative = desk.window.form.negative
    before = negative.height()
    desk.session.generation.negative_prompt = "blurry, text, " * 12
    assert negative.height() > before
    desk.session.generation.negative_prompt = ""
    assert negative.height() == before


def test_a_chunk_of_tokens_begins_at_a_line(desk: Desk) -> None:
    desk.session.generation.prompt = "a 😀 house"
    text = desk.session.generation.prompt
    before = desk.window.form.prompt.grab().toImage()
    state = desk.session.prompts.prompt
    state.check = PromptCheck(text=text, used=80, capacity=150, chunk_starts=(4,))
    assert desk.window.form.prompt.grab().toImage() != before


def test_a_surprise_is_undone_by_the_notice_and_in_the_field(desk: Desk) -> None:
    form = desk.window.form
    before = desk.session.generation.prompt
    form.surprise.click()
    assert desk.session.generation.prompt != before
    form.prompt.undo()
    assert desk.session.generation.prompt == before


def test_a_word_that_is_still_composed_is_made_with(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.start()
    prompt = typed(desk, "a red ")
    QGuiApplication.sendEvent(prompt, QInputMethodEvent("사과", []))
    assert prompt.toPlainText() == "a red "
    QTest.keyClick(prompt, Qt.Key.Key_Return, CONTROL)
    (job,) = desk.wait_for_jobs(1)
    assert isinstance(job.request, GenerateRequest)
    assert job.request.prompt == "a red 사과"
    assert prompt.toPlainText() == "a red 사과"
    assert not prompt.textCursor().block().layout().preeditAreaText()
