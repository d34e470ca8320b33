"""Whatever replaces what the form holds can be undone, and takes only what it says."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.form.changes import FormChanges, MaskEnd, Reuse
from app.form.fields import Extras
from app.notices.remedies import NoticeAction
from engine.api.request import SeedOptions
from engine.api.values import InputRole
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.metadata.records import PLAIN, PNG


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    one = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    form = one.session.generation
    form.prompt, form.steps, form.width, form.height, form.count = "mine", 11, 320, 256, 4
    form.seed, form.seed_locked = 99, True
    form.extras = Extras(clip_skip=2, seed_options=SeedOptions(variation_seed=3))
    form.start_from("/pictures/photo.png", 320, 256)
    yield one
    one.end()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(PLAIN)))
    return path


CHANGES: dict[str, Callable[[FormChanges, Path], None]] = {
    "settings": lambda changes, picture: changes.use_settings(picture),
    "everything": lambda changes, picture: changes.use_settings(picture, Reuse.EVERYTHING),
    "prompt": lambda changes, picture: changes.use_settings(picture, Reuse.PROMPT),
    "seed": lambda changes, picture: changes.use_settings(picture, Reuse.SEED),
    "reset": lambda changes, picture: changes.reset(),
    "extras": lambda changes, picture: changes.drop_extras(),
    "start": lambda changes, picture: changes.start_from(str(picture), 640, 640),
    "noise": lambda changes, picture: changes.start_anew(),
    "mask": lambda changes, picture: changes.paint_within(lambda: b"png", MaskEnd.CLOSED),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_replacement_can_be_undone_and_done_again(
    staged: Staged, picture: Path, change: str
) -> None:
    session = staged.session
    before = session.generation.form
    CHANGES[change](session.changes, picture)
    staged.wait(lambda: session.generation.form != before)
    after = session.generation.form
    for wanted in (before, after, before):
        (notice,) = session.notices.notices
        assert notice.actions == (NoticeAction.UNDO_CHANGE,)
        session.remedies.act(notice, NoticeAction.UNDO_CHANGE)
        assert session.generation.form == wanted


def test_every_way_to_change_the_form_is_among_these() -> None:
    ways = {name for name in vars(FormChanges) if not name.startswith("_")}
    known = {"use_settings", "reset", "drop_extras", "start_from", "start_anew", "paint_within"}
    assert ways - known == {"undo", "keep_all", "apply", "staticMetaObject"}


def test_a_replacement_that_changes_nothing_says_nothing(staged: Staged) -> None:
    staged.session.changes.drop_extras()
    (notice,) = staged.session.notices.notices
    staged.session.remedies.dismiss(notice)
    staged.session.changes.drop_extras()
    assert staged.session.notices.notices == ()


@pytest.mark.parametrize("locked", [True, False])
def test_settings_are_all_but_the_seed_and_how_many(
    staged: Staged, picture: Path, locked: bool
) -> None:
    form = staged.session.generation
    form.seed_locked = locked
    staged.session.pictures.use_settings(picture)
    staged.wait(lambda: form.prompt == PLAIN.request.prompt)
    assert form.steps == PLAIN.request.steps
    assert (form.seed, form.seed_locked, form.count) == (99, locked, 4)
    assert form.extras.seed_options.variation_seed == 3
    assert form.inputs == ()


def test_a_prompt_is_the_prompt_alone(staged: Staged, picture: Path) -> None:
    form = staged.session.generation
    before = form.form
    staged.session.pictures.use_settings(picture, Reuse.PROMPT)
    staged.wait(lambda: form.prompt == PLAIN.request.prompt)
    negative = PLAIN.request.negative_prompt
    wanted = msgspec.structs.replace(before, prompt=form.prompt, negative_prompt=negative)
    assert form.form == wanted


def test_a_seed_is_the_seed_alone_and_is_kept(staged: Staged, picture: Path) -> None:
    form = staged.session.generation
    form.seed_locked = False
    staged.session.pictures.use_settings(picture, Reuse.SEED)
    staged.wait(lambda: form.seed == PLAIN.request.seed)
    assert form.seed_locked
    assert (form.prompt, form.steps) == ("mine", 11)
    assert form.extras.seed_options == PLAIN.request.seed_options
    assert form.extras.clip_skip == 2


def test_a_painting_that_is_dropped_can_be_had_back(staged: Staged) -> None:
    session, form = staged.session, staged.session.generation
    before = form.form
    session.changes.paint_within(lambda: b"png", MaskEnd.DROPPED)
    staged.wait(lambda: bool(session.notices.notices))
    assert form.form == before
    session.remedies.act(session.notices.notices[0], NoticeAction.UNDO_CHANGE)
    mask = form.input_path(InputRole.MASK)
    assert mask is not None
    assert Path(mask).read_bytes() == b"png"


def test_a_size_that_a_start_picture_sets_is_said(staged: Staged, picture: Path) -> None:
    staged.session.pictures.start_from(str(picture), 256, 384)
    form = staged.session.generation
    (notice,) = staged.session.notices.notices
    assert f"{form.width} × {form.height}" in notice.message  # noqa: RUF001
