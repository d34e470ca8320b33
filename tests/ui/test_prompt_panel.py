"""The line at a prompt: its tokens, what has no effect, what looks wrong, marked where it is."""

import re

import pytest
from PySide6.QtGui import QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtTest import QTest

from app.form.generation import MOST_CHARACTERS
from app.form.prompt_state import NO_CHECK
from engine.api.prompts import EncoderCount, Hint, HintKind, PromptCheck
from engine.api.values import ConventionName
from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from ui.labels import cut_text, hint_text, token_count
from ui.panels.prompt_panel import PromptPanel
from ui.widgets.prompt_edit import PromptEdit

READS = Plan(reads_prompts=True)


def marked(edit: PromptEdit) -> tuple[str, list[str]]:
    """The text that is dimmed, and the texts that are underlined."""
    dimmed, underlined = "", list[str]()
    for selection in edit.extraSelections():
        text = selection.cursor.selectedText()  # pyright: ignore[reportAttributeAccessIssue]
        look: QTextCharFormat = selection.format  # pyright: ignore[reportAttributeAccessIssue]
        if look.underlineStyle() is QTextCharFormat.UnderlineStyle.WaveUnderline:
            underlined.append(text)
        else:
            dimmed = text
    return dimmed, underlined


@pytest.fixture
def reading(make_desk: MakeDesk) -> Desk:
    return make_desk(READS).start()


def said(panel: PromptPanel) -> list[str]:
    """The texts that are shown, from the top."""
    labels = (panel.count, panel.cut, panel.problem, panel.hint)
    return [label.text() for label in labels if label.isVisibleTo(panel)]


@pytest.mark.parametrize("kind", ["lora", "lyco", "loractl"])
def test_the_tag_of_a_lost_lora_is_underlined(reading: Desk, kind: str) -> None:
    reading.session.generation.prompt = f"a house <{kind}:seaside:0.8>"
    edit = reading.window.form.prompt
    reading.wait(lambda: marked(edit)[1] == [f"<{kind}:seaside"])


def test_the_count_of_a_long_prompt_follows_typing_and_convention(reading: Desk) -> None:
    form, state = reading.window.form, reading.session.generation
    panel = form.prompt_panel
    reading.wait(lambda: reading.session.prompts.prompt.check.used == 8)
    # The length of a short prompt is no concern.
    assert said(panel) == []
    state.prompt = "a (red:1.2) house " + "cat " * 57
    reading.wait(lambda: said(panel) == ["60 of 75 tokens"])
    state.convention = ConventionName.DIFFUSERS
    reading.wait(lambda: said(panel) == ["66 of 75 tokens"])
    assert form.prompt.accessibleDescription() == "66 of 75 tokens"
    form.prompt.clear()
    reading.wait(lambda: said(panel) == [])
    assert said(form.negative_panel) == []


def test_text_without_effect_is_dimmed_as_long_as_it_has_none(reading: Desk) -> None:
    form, state = reading.window.form, reading.session.generation
    # Of characters that take two places in the document, and lines.
    state.prompt = "😀 cat\r\n" + "cat " * 80 + "two dogs"
    state.convention = ConventionName.DIFFUSERS
    reading.wait(lambda: marked(form.prompt)[0].endswith("two dogs"))
    (count, cut) = said(form.prompt_panel)
    words = len(marked(form.prompt)[0].split())
    assert count.endswith("of 75 tokens")
    assert cut == f"The last {words} words have no effect."
    state.convention = ConventionName.A1111
    reading.wait(lambda: marked(form.prompt)[0] == "")
    assert len(said(form.prompt_panel)) == 1


def test_a_hint_appears_under_its_spot_and_goes(reading: Desk) -> None:
    form = reading.window.form
    reading.session.generation.prompt = "😀 a "
    form.prompt.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(form.prompt, "(red house")
    wanted = "Unclosed “(”"
    reading.wait(lambda: wanted in said(form.prompt_panel))
    assert marked(form.prompt) == ("", ["("])
    QTest.keyClicks(form.prompt, ")")
    reading.wait(lambda: wanted not in said(form.prompt_panel))
    assert marked(form.prompt) == ("", [])


def test_a_network_that_is_not_used_yet_is_said(reading: Desk) -> None:
    form = reading.window.form
    reading.session.generation.prompt = "a house <hypernet:foo:0.5> at night"
    reading.wait(lambda: "<hypernet:foo> has no effect." in said(form.prompt_panel))
    assert marked(form.prompt) == ("", ["<hypernet:foo:0.5>"])


def test_marks_of_another_text_are_not_drawn(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.prompts.prompt
    desk.session.generation.prompt = "what is typed meanwhile"
    state.check = PromptCheck(text="what was typed", used=3, capacity=75, is_cut=True, cut_at=5)
    assert marked(form.prompt) == ("", [])
    state.check = PromptCheck(text="what", used=3, capacity=75, is_cut=True, cut_at=2)
    assert marked(form.prompt)[0] == "at is typed meanwhile"
    state.check = NO_CHECK
    assert marked(form.prompt) == ("", [])


@pytest.mark.parametrize("place", [0, 3, 10**6])
def test_places_outside_of_the_text_do_no_harm(desk: Desk, place: int) -> None:
    text = desk.session.generation.prompt
    state = desk.session.prompts.prompt
    state.check = PromptCheck(text=text, is_cut=True, cut_at=place)
    state.hints = (Hint(HintKind.UNPAIRED, place, "("),)
    assert len(marked(desk.window.form.prompt)[1]) == (place < len(text))


def _counted(*counts: tuple[int, int]) -> PromptCheck:
    encoders = tuple(
        EncoderCount(key=f"encoder {at}", used=used, capacity=capacity)
        for at, (used, capacity) in enumerate(counts)
    )
    return PromptCheck(used=counts[0][0], capacity=counts[0][1], encoders=encoders)


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (PromptCheck(used=1760, capacity=1800), "1760 of 1800 tokens"),
        (PromptCheck(used=70, capacity=75, drawn=True), "about 70 of 75 tokens"),
        (PromptCheck(used=30, capacity=75, complete=False), "more than 30 tokens"),
        (_counted((29, 75), (35, 75)), "29 / 35 of 75 tokens"),
        (_counted((262, 75), (90, 255)), "262 of 75 tokens · 90 of 255"),
    ],
)
def test_token_counts_are_stated_in_words(check: PromptCheck, text: str) -> None:
    # Thousands are grouped as the system does.
    assert re.sub(r"(?<=\d)\D(?=\d)", "", token_count(check)) == text


def test_tokens_beyond_the_limit_are_stated_in_words() -> None:
    assert cut_text(PromptCheck(is_cut=True, cut_words=1)) == "The last word has no effect."
    assert cut_text(PromptCheck(is_cut=True)) == "The end has no effect."
    assert cut_text(PromptCheck(cut_words=5)) == ""


def test_braces_of_a_prompt_are_only_braces() -> None:
    refused = "At character 1 of the prompt, {n} {sign} {0}."
    assert hint_text(Hint(HintKind.REFUSED, 0, refused)) == refused
    assert hint_text(Hint(HintKind.UNPAIRED, 0, "{n}")) == "Unclosed “{n}”"


def test_a_prompt_pasted_in_pieces_is_limited(desk: Desk) -> None:
    QGuiApplication.clipboard().setText("word " * 1500)
    prompt = desk.window.form.prompt
    prompt.selectAll()
    prompt.paste()
    prompt.paste()
    assert len(prompt.toPlainText()) == MOST_CHARACTERS
    QGuiApplication.clipboard().setText("instead")
    prompt.selectAll()
    prompt.paste()
    assert prompt.toPlainText() == "instead"
