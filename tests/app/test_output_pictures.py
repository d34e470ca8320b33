"""The list of pictures follows the output folder: newest first, patched where it can be."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.background import Background
from app.library.output_pictures import OutputPictures
from app.library.picture_files import Picture, compare, list_pictures
from tests.app.supervised import PATIENCE_MS

HOUR_NS = 3_600_000_000_000


class Mirror(QObject):
    """A list that is kept by what a store tells, as an item model is."""

    def __init__(self, store: OutputPictures) -> None:
        super().__init__()
        self._store = store
        self.paths = [store[row].path for row in range(len(store))]
        self.resets = 0
        store.inserted.connect(self._on_inserted)
        store.removing.connect(self._on_removing)
        store.was_reset.connect(self._on_reset)

    def _on_inserted(self, first: int, last: int) -> None:
        self.paths[first:first] = [self._store[row].path for row in range(first, last + 1)]

    def _on_removing(self, first: int, last: int) -> None:
        del self.paths[first : last + 1]

    def _on_reset(self) -> None:
        self.resets += 1
        self.paths = [self._store[row].path for row in range(len(self._store))]


class Followed:
    """A folder and a store that follows it."""

    def __init__(self, folder: Path, bot: QtBot) -> None:
        self.folder = folder
        self.background = Background(1)
        self.store = OutputPictures(folder, self.background)
        self.mirror = Mirror(self.store)
        self._bot = bot

    def names(self) -> list[str]:
        return [Path(self.store[row].path).name for row in range(len(self.store))]

    def wait(self, condition: Callable[[], bool]) -> None:
        self._bot.waitUntil(condition, timeout=PATIENCE_MS)

    def wait_for(self, *names: str) -> None:
        self.wait(lambda: self.names() == list(names))
        assert [Path(path).name for path in self.mirror.paths] == list(names)


@pytest.fixture
def followed(tmp_path: Path, qtbot: QtBot) -> Iterator[Followed]:
    followed = Followed(tmp_path / "pictures", qtbot)
    yield followed
    followed.background.close()


def put(folder: Path, name: str, hour: int) -> Path:
    path = folder / name
    path.write_bytes(b"content")
    os.utime(path, ns=(hour * HOUR_NS, hour * HOUR_NS))
    return path


def test_pictures_come_newest_first(followed: Followed) -> None:
    followed.folder.mkdir()
    for hour, name in enumerate(("b.png", "c.JPG", "a.webp"), start=1):
        put(followed.folder, name, hour)
    put(followed.folder, "notes.txt", 9)
    put(followed.folder, ".safelight-00004.tmp", 9)
    put(followed.folder, ".hidden.png", 9)
    (followed.folder / "folder.png").mkdir()
    followed.store.refresh()
    followed.wait_for("a.webp", "c.JPG", "b.png")
    for row in range(3):
        assert followed.store.row_of(followed.store[row].path) == row
    assert followed.store.row_of("elsewhere") is None


def test_a_folder_that_cannot_be_is_an_empty_list(followed: Followed, tmp_path: Path) -> None:
    followed.folder.mkdir()
    put(followed.folder, "1.png", 1)
    followed.store.refresh()
    followed.wait_for("1.png")
    followed.store.open(tmp_path / ("x" * 300))
    followed.wait_for()
    followed.store.open(followed.folder)
    followed.wait_for("1.png")


def test_the_list_follows_changes_of_the_folder_by_others(followed: Followed) -> None:
    followed.folder.mkdir()
    first = put(followed.folder, "1.png", 1)
    followed.store.refresh()
    followed.wait_for("1.png")
    put(followed.folder, "2.png", 2)
    followed.wait_for("2.png", "1.png")
    first.rename(followed.folder / "3.png")
    followed.wait_for("2.png", "3.png")
    (followed.folder / "2.png").unlink()
    followed.wait_for("3.png")
    assert followed.mirror.resets == 0


def test_a_folder_that_is_made_later_is_followed(followed: Followed) -> None:
    followed.store.refresh()
    followed.wait_for()
    followed.folder.mkdir()
    put(followed.folder, "1.png", 1)
    followed.store.refresh_soon()
    followed.wait_for("1.png")
    put(followed.folder, "2.png", 2)
    followed.wait_for("2.png", "1.png")


def test_a_picture_written_anew_is_another_one(followed: Followed) -> None:
    followed.folder.mkdir()
    put(followed.folder, "1.png", 1)
    put(followed.folder, "2.png", 2)
    followed.store.refresh()
    followed.wait_for("2.png", "1.png")
    put(followed.folder, "1.png", 3)
    followed.store.refresh()
    followed.wait_for("1.png", "2.png")


def test_many_changes_fill_the_list_anew(followed: Followed) -> None:
    followed.folder.mkdir()
    for number in range(400):
        put(followed.folder, f"{number:03}.png", number)
    followed.store.refresh()
    followed.wait(lambda: len(followed.store) == 400)
    for number in range(0, 400, 2):
        (followed.folder / f"{number:03}.png").unlink()
    followed.wait(lambda: len(followed.store) == 200)
    followed.wait_for(*(f"{number:03}.png" for number in range(399, 0, -2)))
    assert followed.mirror.resets > 0


def test_a_folder_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert list_pictures(tmp_path / "file") == []
    assert list_pictures(tmp_path / "missing") == []


pictures = st.lists(
    st.builds(
        Picture,
        path=st.sampled_from([f"{name}.png" for name in "abcdefgh"]),
        modified_ns=st.integers(0, 4),
        size=st.integers(1, 2),
    ),
    unique_by=lambda picture: picture.path,
    max_size=8,
).map(lambda found: sorted(found, key=lambda picture: (-picture.modified_ns, picture.path)))


@given(pictures, pictures)
def test_a_change_leads_from_one_list_to_the_other(
    before: list[Picture], after: list[Picture]
) -> None:
    change, patched = compare(before, after), list(before)
    for first, last in change.removed:
        del patched[first : last + 1]
    for first, last in change.inserted:
        patched[first:first] = after[first : last + 1]
    assert patched == after
    assert change.by_path == {picture.path: picture for picture in after}


def test_the_folder_is_followed_after_a_bug(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[object]()
    followed.background.failed.connect(told.append)

    def fail(_folder: Path) -> list[Picture]:
        raise KeyError("missing")

    followed.folder.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr("app.library.output_pictures.list_pictures", fail)
        followed.store.refresh()
        followed.wait(lambda: bool(told))
    put(followed.folder, "a.png", 1)
    followed.store.refresh()
    followed.wait_for("a.png")
