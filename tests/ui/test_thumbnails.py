"""Thumbnails come from other threads, newest wish first, and stay within bytes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.library.picture_files import Picture, list_pictures
from tests.app.supervised import PATIENCE_MS
from ui.pictures import ReadPicture, read_picture
from ui.thumbnails import ThumbnailStore

SIDE = 32
EACH = SIDE * SIDE * 4 + 256


def pictures(folder: Path, count: int) -> list[Picture]:
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    for number in range(count):
        image.fill(QColor(number, 0, 0))
        image.save(str(folder / f"{number:03}.png"))
    return sorted(list_pictures(folder), key=lambda picture: picture.path)


@pytest.fixture
def store() -> Iterator[ThumbnailStore]:
    store = ThumbnailStore(SIDE, budget=4 * EACH)
    yield store
    store.close()


def test_a_thumbnail_comes_later_and_stays(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot
) -> None:
    (picture,) = pictures(tmp_path, 1)
    told: list[str] = []
    store.ready.connect(told.append)
    assert store.get(picture) is None
    assert store.get(picture) is None
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    thumbnail = store.get(picture)
    assert thumbnail is not None
    assert thumbnail.pixmap is not None
    assert thumbnail.pixmap.size().toTuple() == (SIDE, SIDE)
    # Asked for twice, decoded once.
    assert told == [picture.path]


def test_the_thumbnail_that_was_unused_for_longest_is_dropped(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot
) -> None:
    found = pictures(tmp_path, 6)
    for picture in found:
        store.get(picture)
        qtbot.waitUntil(lambda picture=picture: store.get(picture) is not None, timeout=PATIENCE_MS)
        # The first is looked at again and again.
        assert store.get(found[0]) is not None
        assert store.kept_bytes <= 4 * EACH
    assert [store.get(picture) is not None for picture in found] == [
        True, False, False, True, True, True,
    ]  # fmt: skip


def test_the_newest_wish_is_first(store: ThumbnailStore, tmp_path: Path, qtbot: QtBot) -> None:
    found = pictures(tmp_path, 60)
    told: list[str] = []
    store.ready.connect(told.append)
    for picture in found:
        store.get(picture)
    qtbot.waitUntil(lambda: len(told) == len(found), timeout=PATIENCE_MS)
    # The first ones were begun before there was another wish.
    begun_late = told[len(told) // 2 :]
    # Several are read at once, and one of them may wait for the processor meanwhile.
    newest_first = sorted(begun_late, reverse=True)
    late_by = [place - newest_first.index(path) for place, path in enumerate(begun_late)]
    assert max(map(abs, late_by)) < len(begun_late) // 2


def test_a_file_that_is_no_picture_is_not_tried_again(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "broken.png").write_bytes(b"<html>")
    (broken,) = list_pictures(tmp_path)
    store.get(broken)
    qtbot.waitUntil(lambda: store.get(broken) is not None, timeout=PATIENCE_MS)
    told: list[str] = []
    store.ready.connect(told.append)
    thumbnail = store.get(broken)
    assert thumbnail is not None
    assert thumbnail.pixmap is None
    assert told == []


def test_another_screen_gets_other_thumbnails(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot
) -> None:
    (picture,) = pictures(tmp_path, 1)
    store.get(picture)
    qtbot.waitUntil(lambda: store.get(picture) is not None, timeout=PATIENCE_MS)
    store.use_ratio(2)
    assert store.get(picture) is None
    qtbot.waitUntil(lambda: store.get(picture) is not None, timeout=PATIENCE_MS)
    thumbnail = store.get(picture)
    assert thumbnail is not None
    assert thumbnail.pixmap is not None
    assert thumbnail.pixmap.size().toTuple() == (2 * SIDE, 2 * SIDE)
    assert thumbnail.pixmap.deviceIndependentSize().toTuple() == (SIDE, SIDE)


def test_a_thumbnail_on_its_way_to_another_screen_is_made_for_that(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot
) -> None:
    (picture,) = pictures(tmp_path, 1)
    store.get(picture)
    store.use_ratio(2)
    qtbot.waitUntil(lambda: store.get(picture) is not None, timeout=PATIENCE_MS)
    thumbnail = store.get(picture)
    assert thumbnail is not None
    assert thumbnail.pixmap is not None
    assert thumbnail.pixmap.size().toTuple() == (2 * SIDE, 2 * SIDE)


def test_pictures_that_meet_a_bug_do_not_hold_up_the_others(
    store: ThumbnailStore, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str, within: QSize, *, cover: bool) -> ReadPicture:
        if not path.endswith("000.png"):
            raise KeyError(path)
        return read_picture(path, within, cover=cover)

    monkeypatch.setattr("ui.thumbnails.read_picture", read)
    told = list[object]()
    store.failed.connect(told.append)
    good, *bad = pictures(tmp_path, 150)
    for picture in bad:
        store.get(picture)
    qtbot.waitUntil(lambda: len(told) == len(bad), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: store.get(good) is not None, timeout=PATIENCE_MS)
