"""The grid's thumbnails in memory: made when nothing is sought, let go when nobody sees them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gallery.precedence import Precedence
from app.gallery.rows import GalleryRow, Marks
from app.gallery.thumbnails import ThumbnailFiles
from ui.gallery.tile_store import TileStore

_SIDE = 512
# More megabytes than are kept for a grid that nobody sees.
_MANY = 24


def _row(folder: Path, number: int) -> GalleryRow:
    path = folder / f"{number}.png"
    image = QImage(QSize(_SIDE, _SIDE), QImage.Format.Format_RGB32)
    image.fill(QColor.fromHsv(number, 200, 200))
    image.save(str(path))
    state = path.stat()
    return GalleryRow(
        id=number,
        path=str(path),
        modified_ns=state.st_mtime_ns,
        size=state.st_size,
        width=_SIDE,
        height=_SIDE,
        identity=None,
        prompt="",
        negative="",
        model="",
        loras=(),
        seed=None,
        tool="",
        marks=Marks(),
        trouble=None,
    )


@pytest.fixture
def precedence() -> Precedence:
    return Precedence()


@pytest.fixture
def store(tmp_path: Path, precedence: Precedence, qapp: QApplication) -> Iterator[TileStore]:
    made = TileStore(ThumbnailFiles(tmp_path / "kept"), precedence, qapp)
    made.use_side(_SIDE, 1.0)
    yield made
    made.close()


def test_thumbnails_wait_while_a_search_is_under_way(
    store: TileStore, precedence: Precedence, tmp_path: Path, qtbot: QtBot
) -> None:
    row = _row(tmp_path, 1)
    precedence.begin()
    with qtbot.assertNotEmitted(store.ready, wait=100):
        assert store.get(row) is None
    with qtbot.waitSignal(store.ready, timeout=10_000):
        precedence.end()
    assert store.get(row) is not None


def test_thumbnails_are_made_though_a_search_never_ends(
    store: TileStore, precedence: Precedence, tmp_path: Path, qtbot: QtBot
) -> None:
    precedence.begin()
    with qtbot.waitSignal(store.ready, timeout=10_000):
        assert store.get(_row(tmp_path, 1)) is None


def test_a_screen_of_thumbnails_is_kept_of_a_grid_that_nobody_sees(
    store: TileStore, tmp_path: Path, qtbot: QtBot
) -> None:
    rows = [_row(tmp_path, number) for number in range(_MANY)]
    for row in rows:
        store.get(row)
    qtbot.waitUntil(lambda: all(store.get(row) is not None for row in rows), timeout=10_000)
    store.rest()
    kept = [row.id for row in rows if store.get(row) is not None]
    assert kept == list(range(_MANY))[-len(kept) :], "those seen last are kept"
    assert 12 <= len(kept) <= 16
