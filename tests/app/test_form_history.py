"""Changes of the form are undone one by one, and done again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from engine.api.values import SamplerName
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Staged]:
    # Each change is a step of its own once events were handled.
    monkeypatch.setattr("app.form.history._MOMENT_MS", 0)
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    yield staged
    staged.end()


def change(staged: Staged, **values: object) -> None:
    for name, value in values.items():
        setattr(staged.session.generation, name, value)
    QCoreApplication.processEvents()


def test_steps_lead_back_and_forward_over_changes_of_any_kind(staged: Staged) -> None:
    form, changes = staged.session.generation, staged.session.changes
    states = [form.form]
    for name, value in (
        ("sampler", SamplerName.HEUN),
        ("steps", 31),
        ("prompt", "a boat"),
        ("seed_locked", True),
    ):
        change(staged, **{name: value})
        states.append(form.form)
    for state in reversed(states[:-1]):
        changes.step_back()
        assert form.form == state
    changes.step_back()
    assert form.form == states[0]
    for state in states[1:]:
        changes.step_forward()
        assert form.form == state
    changes.step_forward()
    assert form.form == states[-1]


def test_changes_within_a_moment_are_one_step(staged: Staged) -> None:
    form = staged.session.generation
    before = form.form
    for guidance in (3.0, 3.5, 4.0):
        form.guidance = guidance
    staged.session.changes.step_back()
    assert form.form == before


def test_another_change_ends_what_could_be_done_again(staged: Staged) -> None:
    form, changes = staged.session.generation, staged.session.changes
    change(staged, steps=31)
    changes.step_back()
    change(staged, count=3)
    changes.step_forward()
    assert (form.steps, form.count) == (None, 3)
    changes.step_back()
    assert form.count == 1


def test_the_seed_of_the_latest_picture_is_no_step(staged: Staged) -> None:
    form, changes = staged.session.generation, staged.session.changes
    change(staged, steps=31)
    change(staged, seed=1234)
    changes.step_back()
    assert (form.steps, form.seed) == (None, 1234)


def test_a_replacement_is_a_step_too(staged: Staged) -> None:
    form, changes = staged.session.generation, staged.session.changes
    change(staged, prompt="mine")
    changes.surprise()
    assert form.prompt != "mine"
    changes.step_back()
    assert form.prompt == "mine"
    (notice,) = staged.session.notices.notices
    assert notice.message == "The form is as it was before."
