"""A gallery over a folder of a test's own."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.gallery.index import GalleryIndex
from app.gallery.query import GalleryQuery
from app.gallery.rows import GalleryRow
from engine.api.values import ErrorInfo
from tests.app.supervised import PATIENCE_MS


class Opened:
    """A gallery whose searches are waited for, and what it told."""

    def __init__(self, folder: Path, bot: QtBot) -> None:
        self.pictures = folder / "pictures"
        self.pictures.mkdir(exist_ok=True)
        self.state, self.cache = folder / "state", folder / "cache"
        self.errors: list[ErrorInfo] = []
        self._bot = bot
        # Kept, as Python may delete what is dropped on another thread, and Qt must not.
        self._indexes: list[GalleryIndex] = []
        self._begin()

    @property
    def file(self) -> Path:
        """The index on disk."""
        return self.cache / "gallery" / "index.sqlite"

    def _begin(self) -> None:
        self.index = GalleryIndex(self.state, self.cache, self.pictures)
        self._indexes.append(self.index)
        self.index.failed.connect(self.errors.append)

    def again(self) -> None:
        """Close the gallery, and open another one over the same files."""
        self.index.close()
        self._begin()
        self.index.start()

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds."""
        self._bot.waitUntil(condition, timeout=PATIENCE_MS)

    def pass_time(self, milliseconds: int) -> None:
        """Let events happen for a while."""
        self._bot.wait(milliseconds)

    def ids(self, query: GalleryQuery | None = None) -> list[int]:
        """Search, and wait for the ids."""
        found: list[list[int]] = []
        self.index.search(query or GalleryQuery(), lambda results: found.append(results.ids))
        self.wait(lambda: bool(found))
        return found[0]

    def rows(self, query: GalleryQuery | None = None) -> list[GalleryRow]:
        """Search, and wait for the rows."""
        return self.index.rows(self.ids(query))

    def names(self, query: GalleryQuery | None = None) -> list[str]:
        """Search, and wait for the files' names."""
        return [Path(row.path).name for row in self.rows(query)]

    def wait_for(self, *names: str, query: GalleryQuery | None = None) -> None:
        """Wait until a search finds just these files, in any order."""
        self._bot.waitUntil(lambda: sorted(self.names(query)) == sorted(names), timeout=PATIENCE_MS)


@pytest.fixture
def gallery(tmp_path: Path, qtbot: QtBot) -> Iterator[Opened]:
    gallery = Opened(tmp_path, qtbot)
    yield gallery
    gallery.index.close()
    del gallery
    gc.collect()
