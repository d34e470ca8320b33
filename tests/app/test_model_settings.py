"""The settings that were chosen with a model come back with it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.generation import NO_CHOICES, Choices
from app.form.model_settings import FILE
from app.notices.remedies import NoticeAction
from engine.api.request import InputImage
from engine.api.values import InputRole, SamplerName
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

OTHER = Path("/models/other.safetensors")
CHOSEN = Choices(width=320, height=256, steps=9, guidance=3.5, sampler=SamplerName.EULER)


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[[], Staged]]:
    sessions: list[Staged] = []

    def make() -> Staged:
        sessions.append(Staged(tmp_path, qtbot, fake_command(Plan()), QUICK))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


@pytest.fixture
def staged(stage: Callable[[], Staged]) -> Staged:
    return stage()


def test_a_model_comes_with_its_own_settings_and_takes_them_away(staged: Staged) -> None:
    session, form = staged.session, staged.session.generation
    starter = form.checkpoint
    form.put_choices(CHOSEN)
    session.checkpoint.choose(OTHER)
    assert form.choices == NO_CHOICES
    form.steps = 40
    session.checkpoint.choose(starter)
    assert form.choices == CHOSEN
    session.checkpoint.choose(OTHER)
    assert form.choices == Choices(steps=40)


def test_settings_of_a_model_outlive_the_window(stage: Callable[[], Staged]) -> None:
    first = stage()
    form = first.session.generation
    form.put_choices(CHOSEN)
    first.session.checkpoint.choose(OTHER)
    first.end()
    assert str(form.checkpoint).encode() not in (first.paths.state / FILE).read_bytes()
    second = stage()
    second.session.checkpoint.choose(second.session.checkpoints.starter)
    assert second.session.generation.choices == CHOSEN


def test_a_reset_forgets_the_settings_of_the_model(staged: Staged) -> None:
    session, form = staged.session, staged.session.generation
    starter = form.checkpoint
    form.put_choices(CHOSEN)
    session.checkpoint.choose(OTHER)
    session.checkpoint.choose(starter)
    session.changes.reset()
    session.checkpoint.choose(OTHER)
    session.checkpoint.choose(starter)
    assert form.choices == NO_CHOICES


def test_a_start_picture_keeps_its_size_and_leaves_none_behind(staged: Staged) -> None:
    session, form = staged.session, staged.session.generation
    starter = form.checkpoint
    form.put_choices(CHOSEN)
    session.checkpoint.choose(OTHER)
    form.inputs = (InputImage(role=InputRole.INIT, path="/pictures/a.png"),)
    form.width, form.height, form.steps = 512, 768, 30
    session.checkpoint.choose(starter)
    assert (form.width, form.height, form.steps) == (512, 768, 9)
    form.inputs = ()
    session.checkpoint.choose(OTHER)
    assert form.choices == Choices(steps=30)


def test_a_choice_that_replaces_settings_can_be_undone(staged: Staged) -> None:
    session, form = staged.session, staged.session.generation
    form.put_choices(CHOSEN)
    before = form.form
    session.checkpoint.choose(OTHER)
    (notice,) = session.notices.notices
    session.remedies.act(notice, NoticeAction.UNDO_CHANGE)
    assert form.form == before


def test_a_choice_that_replaces_no_setting_says_nothing(staged: Staged) -> None:
    staged.session.checkpoint.choose(OTHER)
    assert staged.session.notices.notices == ()
