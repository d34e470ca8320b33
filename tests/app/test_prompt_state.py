"""The check of a prompt follows the typing, the form and the engine; hints wait for a pause."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine.process import EngineState
from app.form.generation import MOST_CHARACTERS
from app.form.prompt_state import NO_CHECK, PromptState
from engine.api.messages import PromptChecked
from engine.api.prompts import Hint, HintKind, PromptCheck
from engine.api.values import ConventionName
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

Stage = Callable[..., Staged]
HINT = Hint(HintKind.UNPAIRED, 2, "(")


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    sessions: list[Staged] = []

    def make() -> Staged:
        sessions.append(Staged(tmp_path, qtbot, fake_command(Plan(reads_prompts=True)), QUICK))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def test_the_count_follows_the_text_and_the_convention(stage: Stage) -> None:
    staged = stage().start()
    form, prompt = staged.session.generation, staged.session.prompts.prompt
    staged.wait(lambda: prompt.check.used == 8)
    form.prompt = "a (red:1.2) house"
    staged.wait(lambda: prompt.check.used == 3)
    form.convention = ConventionName.DIFFUSERS
    staged.wait(lambda: prompt.check.used > 3)
    form.prompt = "cat " * 80
    staged.wait(lambda: prompt.check.is_cut)
    form.convention = ConventionName.A1111
    staged.wait(lambda: prompt.check.capacity == 150)
    form.prompt = ""
    staged.wait(lambda: prompt.check == NO_CHECK)


def test_each_text_is_read_as_what_it_is(stage: Stage) -> None:
    staged = stage().start()
    form, prompts = staged.session.generation, staged.session.prompts
    form.prompt = form.negative_prompt = "a AND b"
    staged.wait(lambda: prompts.prompt.check.used == 1)
    staged.wait(lambda: prompts.negative.check.used == 3)


def test_wildcards_that_are_text_are_read_as_text(stage: Stage) -> None:
    staged = stage().start()
    form, prompt = staged.session.generation, staged.session.prompts.prompt
    form.prompt = "a __nothing__ house"
    staged.wait(lambda: [hint.kind for hint in prompt.hints] == [HintKind.WILDCARD])
    form.expand_wildcards = False
    staged.wait(lambda: prompt.hints == ())


def test_only_the_beginning_of_a_million_characters_is_sent(stage: Stage) -> None:
    staged = stage().start()
    prompt = staged.session.prompts.prompt
    staged.session.generation.prompt = "word " * 200_000
    staged.wait(lambda: not prompt.check.complete)
    assert len(prompt.check.text) == MOST_CHARACTERS


def test_a_new_engine_is_asked_what_the_last_one_did_not_answer(stage: Stage) -> None:
    staged = stage().start()
    prompt = staged.session.prompts.prompt
    staged.wait(lambda: prompt.check.used == 8)
    hello = staged.process.hello
    assert hello is not None
    os.kill(hello.pid, signal.SIGSTOP)
    staged.session.generation.prompt = "two words"
    staged.wait(lambda: prompt.query is not None)
    os.kill(hello.pid, signal.SIGKILL)
    staged.wait(lambda: prompt.check.used == 2)
    # On a busy machine its next beat may be late.
    staged.wait(lambda: staged.process.state is EngineState.READY)


def answer(staged: Staged, prompt: PromptState, *hints: Hint) -> None:
    """Answer the question about the text as the engine might."""
    staged.wait(lambda: prompt.query is not None)
    check = PromptCheck(text=staged.session.generation.prompt, hints=hints)
    query = prompt.query
    assert query is not None
    staged.client.prompt_checked.emit(PromptChecked(query=query, check=check))


def test_a_hint_waits_for_a_pause_and_goes_at_once(stage: Stage) -> None:
    staged = stage()
    form, prompt = staged.session.generation, staged.session.prompts.prompt
    prompt.start()
    answer(staged, prompt)
    form.prompt = "a ("
    answer(staged, prompt, HINT)
    # Who has just typed it is not to be told that it lacks a partner.
    assert prompt.check.hints == (HINT,)
    assert prompt.hints == ()
    staged.wait(lambda: prompt.hints == (HINT,))
    form.prompt = "a ()"
    answer(staged, prompt)
    assert prompt.hints == ()


def test_no_prompt_is_checked_before_the_start_and_no_empty_one(stage: Stage) -> None:
    staged = stage()
    staged.session.generation.prompt = "a house"
    assert staged.session.prompts.prompt.query is None
    staged.session.prompts.start()
    assert staged.session.prompts.prompt.query is not None
    assert staged.session.prompts.negative.query is None
