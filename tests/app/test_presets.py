"""Presets hold the parts they were asked to hold, and every change of their list can be undone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.fields import Form
from app.form.presets import FILE, MOST_NAME, MOST_PRESETS, PresetPart, fields_of_parts
from app.notices.remedies import NoticeAction
from engine.api.lora import LoraChoice
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

ALL = tuple(PresetPart)


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
    staged = stage()
    form = staged.session.generation
    form.prompt, form.steps, form.loras = "a private boat", 9, (LoraChoice(file="/ink.pt"),)
    return staged


def undo(staged: Staged) -> None:
    session = staged.session
    session.remedies.act(session.notices.notices[-1], NoticeAction.UNDO_CHANGE)


def names(staged: Staged) -> list[str]:
    return [preset.name for preset in staged.session.presets.store.presets]


def test_every_field_but_those_of_one_picture_is_in_one_part() -> None:
    fields = [name for part in PresetPart for name in fields_of_parts([part])]
    assert len(fields) == len(set(fields))
    left_out = {"seed", "seed_locked", "count", "inputs", "strength", "declaration"}
    left_out |= {"mask_options", "extras", "backend", "precision", "memory_limit_bytes"}
    left_out |= {"device_memory_limit_bytes", "lora_mode"}
    assert set(Form.__struct_fields__) - set(fields) == left_out


@pytest.mark.parametrize("part", ALL)
def test_a_preset_brings_back_its_part_and_nothing_else(staged: Staged, part: PresetPart) -> None:
    session, form = staged.session, staged.session.generation
    form.seed, form.seed_locked = 7, True
    kept = form.form
    session.presets.save("one", [part])
    form.put(Form(checkpoint=Path("/other.safetensors"), prompt="x", steps=3, count=4))
    before = form.form
    session.presets.use(session.presets.store.presets[0])
    for name in Form.__struct_fields__:
        source = kept if name in fields_of_parts([part]) else before
        if name not in ("steps", "declaration"):  # they follow the model
            assert getattr(form, name) == getattr(source, name), name
    undo(staged)
    assert form.form == before


def test_a_prompt_that_is_not_kept_is_not_in_the_file(stage: Callable[[], Staged]) -> None:
    staged = stage()
    staged.session.generation.prompt = "a private boat"
    staged.session.presets.save("one", [PresetPart.SETTINGS])
    staged.end()
    assert b"private" not in (staged.paths.state / FILE).read_bytes()


def test_presets_outlive_the_window_in_their_order(stage: Callable[[], Staged]) -> None:
    first = stage()
    for name in ("a", "b", "c"):
        first.session.presets.save(name, ALL)
    presets = first.session.presets
    presets.move(presets.store.presets[2], 0)
    left = presets.store.presets
    first.end()
    second = stage()
    assert names(second) == ["c", "a", "b"]
    assert second.session.presets.store.presets == left


def test_saving_renaming_replacing_and_removing_can_be_undone(staged: Staged) -> None:
    presets = staged.session.presets
    presets.save("one", ALL)
    for change in (
        lambda: presets.save("two", ALL),
        lambda: presets.rename(presets.store.presets[0], "three"),
        lambda: presets.save("one", [PresetPart.PROMPTS]),
        lambda: presets.remove(presets.store.presets[0]),
    ):
        before = presets.store.presets
        change()
        after = presets.store.presets
        assert after != before
        for wanted in (before, after, before):
            undo(staged)
            assert presets.store.presets == wanted


def test_an_older_change_is_undone_without_those_after_it(staged: Staged) -> None:
    presets, notices = staged.session.presets, staged.session.notices
    presets.save("one", ALL)
    presets.save("two", ALL)
    presets.rename(presets.store.presets[0], "uno")
    renaming = notices.notices[-1]
    presets.remove(presets.store.presets[0])
    removal = notices.notices[-1]
    presets.save("three", ALL)
    staged.session.remedies.act(removal, NoticeAction.UNDO_CHANGE)
    assert names(staged) == ["uno", "two", "three"]
    undo(staged)
    assert names(staged) == ["two", "three"]
    presets.save("uno", [PresetPart.PROMPTS])
    # Its name is another's now, and what was renamed is gone.
    staged.session.remedies.act(removal, NoticeAction.UNDO_CHANGE)
    staged.session.remedies.act(renaming, NoticeAction.UNDO_CHANGE)
    assert names(staged)[-1] == "uno"
    assert presets.store.presets[-1].parts == (PresetPart.PROMPTS,)


def test_a_name_is_one_line_and_the_only_one(staged: Staged) -> None:
    presets = staged.session.presets
    presets.save("  a\n  b " + "x" * 200, ALL)
    presets.save("two", ALL)
    assert names(staged)[0] == ("a b " + "x" * 200)[:MOST_NAME]
    assert not presets.rename(presets.store.presets[0], "two")
    assert not presets.rename(presets.store.presets[0], "  ")


def test_the_list_has_an_end(staged: Staged) -> None:
    presets = staged.session.presets
    for number in range(MOST_PRESETS + 1):
        presets.save(str(number), [PresetPart.PROMPTS])
    assert len(presets.store.presets) == MOST_PRESETS
    assert staged.session.notices.notices[-1].undo is None


def test_the_starter_is_kept_wherever_it_lies(staged: Staged) -> None:
    session = staged.session
    session.presets.save("one", [PresetPart.MODEL])
    (preset,) = session.presets.store.presets
    session.checkpoint.choose(Path("/other.safetensors"))
    session.presets.use(preset)
    assert session.generation.checkpoint == session.checkpoints.starter
