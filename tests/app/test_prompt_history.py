"""Prompts that were generated are remembered, found, stepped through and forgotten."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.form.generation import GenerationState
from app.form.prompt_history import MOST_PROMPTS, PromptHistory, PromptRecall
from app.notices.remedies import NoticeAction
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


@pytest.fixture
def history(tmp_path: Path, qapp: QApplication) -> Iterator[PromptHistory]:
    numbers = count()
    history = PromptHistory(tmp_path, clock=lambda: next(numbers))
    yield history
    history.close()


def prompts(history: PromptHistory) -> list[str]:
    return [prompt.prompt for prompt in history.prompts]


def test_the_newest_of_different_prompts_is_first(history: PromptHistory) -> None:
    for text in ("a", "b", "a", "  "):
        history.add(text, "")
    history.add("b", "blurry")
    assert [prompt.texts for prompt in history.prompts] == [("b", "blurry"), ("a", ""), ("b", "")]


def test_prompts_are_read_again(history: PromptHistory, tmp_path: Path) -> None:
    history.add("a boat", "blurry")
    history.close()
    again = PromptHistory(tmp_path)
    assert again.prompts == history.prompts
    again.close()


def test_the_list_has_an_end_by_number_and_by_length(history: PromptHistory) -> None:
    for number in range(MOST_PROMPTS + 3):
        history.add(str(number), "")
    assert len(history.prompts) == MOST_PROMPTS
    for number in range(200):
        history.add(f"{number}" + "x" * 9_000, "")
    assert len(history.prompts) == 1_000_000 // 9_003


def test_a_prompt_is_found_by_all_words_in_both_texts(history: PromptHistory) -> None:
    history.add("A Red house", "blurry")
    history.add("a red boat", "")
    assert [prompt.prompt for prompt in history.find("red")] == ["a red boat", "A Red house"]
    assert [prompt.prompt for prompt in history.find("BLUR red")] == ["A Red house"]
    assert history.find("nothing") == ()


def test_steps_lead_back_to_what_was_being_written(history: PromptHistory) -> None:
    form = GenerationState(Path("/a"))
    recall = PromptRecall(form, history)
    for text in ("one", "two"):
        history.add(text, "")
    form.prompt = "draft"
    assert not recall.newer()
    assert recall.older()
    assert form.prompt == "two"
    assert recall.older()
    assert form.prompt == "one"
    assert not recall.older()
    assert recall.newer()
    assert form.prompt == "two"
    assert recall.newer()
    assert form.prompt == "draft"
    assert not recall.newer()


def test_a_step_from_the_prompt_that_was_just_made_is_to_the_one_before(
    history: PromptHistory,
) -> None:
    form = GenerationState(Path("/a"))
    recall = PromptRecall(form, history)
    for text in ("one", "two"):
        history.add(text, "")
    form.prompt = "two"
    assert recall.older()
    assert form.prompt == "one"
    assert recall.newer()
    assert form.prompt == "two"


def test_an_edited_prompt_is_a_new_draft(history: PromptHistory) -> None:
    form = GenerationState(Path("/a"))
    recall = PromptRecall(form, history)
    for text in ("one", "two"):
        history.add(text, "")
    recall.older()
    form.prompt = "two and a half"
    assert recall.older()
    assert form.prompt == "two"
    assert recall.newer()
    assert form.prompt == "two and a half"


def test_queued_prompts_are_remembered_and_forgotten_with_undo(
    tmp_path: Path, qtbot: QtBot
) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    session = staged.session
    session.generation.prompt, session.generation.count = "a boat", 3
    session.jobs.generate()
    staged.wait(lambda: prompts(session.earlier.history) == ["a boat"])
    before = session.earlier.history.prompts
    for forget in (session.earlier.clear, lambda: session.earlier.remove(before[0])):
        forget()
        assert session.earlier.history.prompts == ()
        session.remedies.act(session.notices.notices[-1], NoticeAction.UNDO_CHANGE)
        assert session.earlier.history.prompts == before
    session.generation.prompt = "x"
    session.earlier.use(before[0])
    assert session.generation.prompt == "a boat"
    session.remedies.act(session.notices.notices[-1], NoticeAction.UNDO_CHANGE)
    assert session.generation.prompt == "x"
    staged.end()


def test_prompts_of_later_pictures_stay_when_forgetting_is_undone(
    tmp_path: Path, qtbot: QtBot
) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    session = staged.session
    history = session.earlier.history
    for prompt in ("one", "two", "three"):
        history.add(prompt, "")
    session.earlier.remove(history.prompts[1])
    forgotten = session.notices.notices[-1]
    history.add("four", "")
    history.add("one", "")
    session.earlier.remove(history.find("three")[0])
    session.remedies.act(forgotten, NoticeAction.UNDO_CHANGE)
    assert prompts(history) == ["one", "four", "two"]
    staged.end()
