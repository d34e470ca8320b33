"""Masks and pasted pictures that nothing names are removed after a time, and no others."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.masks import keep_mask, keep_pasted
from app.form.used_pictures import FILE, KEPT_S, UsedPictures
from app.queue.jobs import Job
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import InputRole
from tests.app.fake_engine import Plan
from tests.app.folders import folders_in
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

LATER = KEPT_S + 60


def kept(state: Path, content: bytes, *, pasted: bool = False) -> Path:
    keep, folder = (keep_pasted, "pasted") if pasted else (keep_mask, "masks")
    path = keep(state / folder, content)
    assert isinstance(path, Path)
    return path


def job_with(path: Path) -> Job:
    image = InputImage(path=str(path), role=InputRole.MASK)
    return Job(id="1", request=GenerateRequest(prompt="", inputs=(image,)), folder=path.parent)


@pytest.mark.parametrize("pasted", [True, False])
def test_a_file_that_nothing_names_is_removed_once_it_is_old(
    tmp_path: Path, *, pasted: bool
) -> None:
    used = UsedPictures(tmp_path)
    path = kept(tmp_path, b"one", pasted=pasted)
    stranger = path.with_name("mine.png")
    stranger.write_bytes(b"of the user")
    assert used.remove_unused() == 0
    assert path.exists()
    assert used.remove_unused(time.time() + LATER) == 1
    assert not path.exists()
    assert stranger.exists()


@pytest.mark.parametrize("file", ["session.json", "queue.jsonl", "presets.json.damaged-2026"])
def test_a_file_that_a_document_names_is_kept(tmp_path: Path, file: str) -> None:
    used = UsedPictures(tmp_path)
    path = kept(tmp_path, b"one")
    (tmp_path / file).write_text(f'{{"path": "{path}"}}')
    assert used.remove_unused(time.time() + LATER) == 0
    assert path.exists()


def test_a_file_that_a_job_had_is_kept_for_good(tmp_path: Path) -> None:
    path = kept(tmp_path, b"one", pasted=True)
    UsedPictures(tmp_path).note(job_with(path))
    assert UsedPictures(tmp_path).remove_unused(time.time() + LATER) == 0
    assert path.exists()


def test_a_file_older_than_the_list_is_kept(tmp_path: Path) -> None:
    path = kept(tmp_path, b"one")
    os.utime(path, (1, 1))
    assert UsedPictures(tmp_path).remove_unused(time.time() + LATER) == 0
    assert path.exists()


def test_a_file_that_is_made_again_is_as_good_as_new(tmp_path: Path) -> None:
    used = UsedPictures(tmp_path)
    path = kept(tmp_path, b"one")
    os.utime(path, (1, 1))
    kept(tmp_path, b"one")
    assert time.time() - path.stat().st_mtime < KEPT_S
    assert used.remove_unused() == 0


@pytest.mark.parametrize("content", ["", "yesterday\n"])
def test_a_damaged_list_begins_anew_and_all_is_kept(tmp_path: Path, content: str) -> None:
    UsedPictures(tmp_path)
    path = kept(tmp_path, b"one")
    (tmp_path / FILE).write_text(content)
    for _ in range(2):
        assert UsedPictures(tmp_path).remove_unused(path.stat().st_mtime + LATER) == 0
        os.utime(path, (1, 1))
    assert path.exists()


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    yield staged
    staged.end()


def test_the_session_lists_what_its_jobs_have(staged: Staged) -> None:
    path = kept(staged.paths.state, b"one")
    staged.session.queue.submit(job_with(path).request, staged.paths.output)  # pyright: ignore[reportArgumentType]
    staged.wait(lambda: path.name in (staged.paths.state / FILE).read_text())


def test_the_session_removes_what_nothing_names(tmp_path: Path, qtbot: QtBot) -> None:
    state, long_ago = folders_in(tmp_path).state, time.time() - LATER
    path = kept(state, b"one")
    (state / FILE).write_text(f"{long_ago - 60}\n")
    os.utime(path, (long_ago, long_ago))
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK).start()
    staged.wait(lambda: not path.exists())
    staged.end()
