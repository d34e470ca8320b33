"""An obstacle to a picture is known before it is tried, and forgotten when it is mended."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.notices.remedies import NoticeAction
from engine.api.values import ErrorCode
from tests.app.sessions import Staged


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, None).start()
    yield staged
    staged.end()


def test_a_broken_checkpoint_makes_no_job_until_it_is_mended(
    staged: Staged, tmp_path: Path
) -> None:
    session = staged.session
    page = tmp_path / "mix.safetensors"
    page.write_bytes(b"<!DOCTYPE html><html>Please log in</html>")
    session.checkpoint.open(page)
    staged.wait(lambda: session.obstacle.found is not None)
    session.jobs.generate()
    assert session.queue.jobs == ()
    assert session.notices.notices[-1].error == session.obstacle.found
    session.generation.checkpoint = session.checkpoints.starter
    assert session.obstacle.found is None


def test_a_checkpoint_that_goes_is_kept_by_name_and_comes_back(
    staged: Staged, tmp_path: Path
) -> None:
    session, store = staged.session, staged.session.checkpoints
    mine = staged.paths.models / "sub" / "mine"
    shutil.copytree(store.starter, mine)
    session.generation.checkpoint = mine
    store.refresh()
    staged.wait(lambda: store.answer(mine) is not None)
    assert session.obstacle.found is None
    mine.rename(tmp_path / "elsewhere")
    session.look_again()
    staged.wait(lambda: session.obstacle.found is not None)
    assert session.obstacle.found is not None
    assert session.obstacle.found.code is ErrorCode.CHECKPOINT_NOT_FOUND
    assert [entry.name for entry in store.entries if entry.path == mine] == ["sub/mine"]
    assert store.is_gone(mine)
    (tmp_path / "elsewhere").rename(mine)
    session.look_again()
    staged.wait(lambda: session.obstacle.found is None)
    assert not store.is_gone(mine)


def test_a_start_picture_that_goes_is_said_before_the_press(staged: Staged, tmp_path: Path) -> None:
    session = staged.session
    photo = tmp_path / "photo.png"
    Image.new("RGB", (64, 64)).save(photo)
    session.pictures.start_from(str(photo), 64, 64)
    photo.unlink()
    session.look_again()
    staged.wait(lambda: session.obstacle.found is not None)
    assert session.obstacle.found is not None
    assert "photo.png" in session.obstacle.found.message
    notice = session.notices.notices[-1]
    session.remedies.act(notice, NoticeAction.UNDO_CHANGE)
    staged.wait(lambda: session.obstacle.found is None)


def test_a_checkpoint_that_a_picture_missed_is_gone_where_it_is_chosen(staged: Staged) -> None:
    session, store = staged.session, staged.session.checkpoints
    mine = staged.paths.models / "mine"
    shutil.copytree(store.starter, mine)
    session.generation.checkpoint = mine
    store.refresh()
    staged.wait(lambda: store.answer(mine) is not None)
    shutil.rmtree(mine)
    session.jobs.generate()
    # Nobody left the window and came back.
    staged.wait(lambda: session.obstacle.found is not None)
    assert store.is_gone(mine)
    (notice,) = session.notices.notices
    assert notice.message == f"mine is not in {mine.parent}."
