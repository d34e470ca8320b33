"""A painting is in the form as soon as it is on disk, and no picture is made without it."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from pytestqt.qtbot import QtBot

from engine.api.values import InputRole
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.metadata.records import PNG


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    (tmp_path / "photo.png").write_bytes(PNG)
    staged.session.generation.start_from(str(tmp_path / "photo.png"), 320, 256)
    yield staged
    staged.end()


def mask(staged: Staged) -> bytes | None:
    path = staged.session.generation.input_path(InputRole.MASK)
    return None if path is None else Path(path).read_bytes()


def test_the_latest_stroke_is_kept_of_many(staged: Staged) -> None:
    for number in range(5):
        staged.session.painting.keep(str(number).encode)
    staged.wait(lambda: mask(staged) == b"4")
    assert len(list((staged.paths.state / "masks").iterdir())) <= 2


def test_a_mask_that_was_cleared_does_not_come_back(staged: Staged) -> None:
    painting, done = staged.session.painting, list[bool]()
    painting.keep(lambda: b"one")
    painting.keep(None)
    painting.when_kept(lambda: done.append(True))
    staged.wait(lambda: done == [True])
    assert mask(staged) is None


def test_a_mask_is_not_put_on_another_start_picture(staged: Staged) -> None:
    painting, done = staged.session.painting, list[bool]()
    painting.keep(lambda: b"one")
    painting.when_kept(lambda: done.append(True))
    staged.session.generation.start_from("/pictures/other.png", 320, 256)
    staged.wait(lambda: done == [True])
    assert mask(staged) is None


def test_generate_waits_for_the_latest_stroke(staged: Staged) -> None:
    written = Event()

    def slow() -> bytes:
        written.wait(60)
        return b"slow"

    staged.session.painting.keep(slow)
    staged.session.jobs.generate()
    written.set()
    staged.wait(lambda: len(staged.queue.jobs) == 1)
    roles = [image.role for image in generation_of(staged.queue.jobs[0]).inputs]
    assert roles == [InputRole.INIT, InputRole.MASK]


def test_a_mask_that_cannot_be_kept_is_told_and_makes_no_picture(staged: Staged) -> None:
    (staged.paths.state / "masks").write_bytes(b"a file")
    staged.session.painting.keep(lambda: b"one")
    staged.session.jobs.generate()
    staged.wait(lambda: bool(staged.session.notices.notices))
    assert staged.queue.jobs == ()
    staged.session.painting.keep(None)
    staged.session.jobs.generate()
    staged.wait(lambda: len(staged.queue.jobs) == 1)


def test_strokes_keep_the_strength_that_was_set(staged: Staged) -> None:
    form = staged.session.generation
    staged.session.painting.keep(lambda: b"one")
    staged.wait(lambda: mask(staged) == b"one")
    form.strength = 0.4
    staged.session.painting.keep(lambda: b"two")
    staged.wait(lambda: mask(staged) == b"two")
    assert form.strength == 0.4


def test_a_canvas_that_grows_sets_the_size_and_starts_from_noise(staged: Staged) -> None:
    form = staged.session.generation
    staged.session.painting.grow((0, 0, 64, 0), 256, 256)
    assert (form.width, form.height) == (320, 256)
    assert form.effective.strength == 1
    assert form.build_request().mask_options.expand == (0, 0, 64, 0)
    form.start_anew()
    assert not form.build_request().mask_options.expands


def test_strokes_after_a_bug_are_kept(staged: Staged) -> None:
    def fail() -> bytes:
        raise KeyError("missing")

    staged.session.painting.keep(fail)
    staged.wait(lambda: bool(staged.session.notices.notices))
    staged.session.painting.keep(lambda: b"after")
    staged.wait(lambda: mask(staged) == b"after")
