"""Folders are watched as they come, and no drive that does not answer keeps the window waiting."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QFileSystemWatcher
from pytestqt.qtbot import QtBot

from app import folder_watch
from app.background import Background
from app.folder_watch import FolderWatch
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS, QUICK, fake_command


@pytest.fixture
def background() -> Iterator[Background]:
    background = Background(1)
    yield background
    background.close()


@pytest.fixture
def watch(background: Background) -> FolderWatch:
    return FolderWatch(background, background)


@pytest.fixture
def wait(qtbot: QtBot) -> Callable[[Callable[[], bool]], None]:
    return lambda condition: qtbot.waitUntil(condition, timeout=PATIENCE_MS)


def test_many_folders_are_watched_some_at_a_time(
    watch: FolderWatch,
    wait: Callable[[Callable[[], bool]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = [str(tmp_path / f"{number:02}") for number in range(50)]
    for folder in folders:
        Path(folder).mkdir()
    pieces, began = list[int](), list[bool]()
    add = QFileSystemWatcher.addPaths

    def note(watcher: QFileSystemWatcher, paths: list[str]) -> list[str]:
        pieces.append(len(paths))
        return add(watcher, paths)

    monkeypatch.setattr(QFileSystemWatcher, "addPaths", note)
    watch.began.connect(lambda: began.append(True))
    watch.watch([*folders, str(tmp_path / "missing")])
    wait(lambda: bool(began))
    assert watch.folders == frozenset(folders)
    assert pieces == [20, 20, 10]
    watch.watch(folders[:1])
    assert watch.folders == frozenset(folders[:1])
    assert began == [True]


def test_a_change_in_a_folder_that_came_later_is_told(
    watch: FolderWatch, wait: Callable[[Callable[[], bool]], None], tmp_path: Path
) -> None:
    folder, changed = tmp_path / "later", list[str]()
    watch.changed.connect(changed.append)
    watch.watch([str(folder), str(tmp_path)])
    wait(lambda: watch.folders == frozenset({str(tmp_path)}))
    folder.mkdir()
    wait(lambda: changed == [str(tmp_path)])
    watch.watch([str(folder)])
    wait(lambda: watch.folders == frozenset({str(folder)}))
    changed.clear()
    (folder / "a.png").touch()
    wait(lambda: changed == [str(folder)])


def test_a_drive_that_does_not_answer_is_asked_once_at_a_time(
    watch: FolderWatch,
    wait: Callable[[Callable[[], bool]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, asked = Event(), list[str]()

    def ask(folder: str) -> bool:
        asked.append(folder)
        return answers.wait(60)

    monkeypatch.setattr(folder_watch, "is_folder", ask)
    first, second = str(tmp_path), str(tmp_path.parent)
    for folders in ((first,), (first,), (first, second)):
        watch.watch(folders)
    wait(lambda: asked == [first])
    assert watch.folders == frozenset()
    answers.set()
    wait(lambda: watch.folders == frozenset({first, second}))


def test_no_folder_of_a_person_is_asked_for_on_the_window_s_thread(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, is_folder = list[str](), os.path.isdir

    def note(path: str) -> bool:
        if current_thread() is main_thread():
            asked.append(str(path))
        return is_folder(path)

    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    monkeypatch.setattr(os.path, "isdir", note)
    folders = staged.paths.output, staged.paths.models
    for folder in folders:
        folder.mkdir(parents=True)
    session = staged.session
    watches: list[FolderWatch] = []
    try:
        session.output_pictures.refresh()
        listings = session.loras.listing, session.models.store.listing
        for owner in (session.output_pictures, *listings, session.gallery_index):
            watches += owner.findChildren(FolderWatch)
        for listing in listings:
            listing.finish([str(staged.paths.models)])
        assert len(watches) == 4
        staged.wait(lambda: all(watch.folders for watch in watches))
    finally:
        staged.end()
    assert asked == []
