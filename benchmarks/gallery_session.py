"""A gallery over many pictures: `python -m benchmarks.gallery_session FOLDER`, prints JSON.

The first run in a folder indexes `pictures` there; later ones open the index that it left. Without
a window: times are until the results are on the GUI thread.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.gallery.index import GalleryIndex
from app.gallery.precedence import Precedence
from app.gallery.query import GalleryQuery, Order
from app.gallery.reading import read_facets
from app.gallery.rows import FolderState
from app.gallery.searching import Searcher
from benchmarks.measure import private_bytes
from benchmarks.stalls import StallWatch

_PATIENCE_S = 1800.0
_ROUNDS = 7
_PAGE = 200
SEARCHES = {
    "everything, newest first": GalleryQuery(),
    "everything, by name": GalleryQuery(order=Order.NAME),
    "a word in nearly all": GalleryQuery(words="portrait"),
    "two words in many": GalleryQuery(words="castle storm"),
    "two letters in all": GalleryQuery(words="an"),
    "a word in none": GalleryQuery(words="zeppelin"),
    "a model and a word": GalleryQuery(words="golden", model="model 3"),
    "a LoRA": GalleryQuery(lora="style7"),
    "a seed": GalleryQuery(words="4711"),
}


class GalleryFigures(msgspec.Struct, frozen=True):
    """One session: seconds and milliseconds, pictures, and bytes of private memory.

    `opened_ms` is from `start` to the first page of rows; `scanned_s` until all folders were looked
    through and what was new is in the index.
    """

    pictures: int
    opened_ms: float
    scanned_s: float
    longest_stall_ms: float
    searches_ms: dict[str, float]
    # The same in an index that was just changed, on the thread that asks.
    first_searches_ms: dict[str, float]
    page_ms: float
    facets_ms: float
    rate_ms: float
    memory: int
    index_bytes: int


class Session:
    """The gallery of a folder, whose answers are waited for."""

    def __init__(self, folder: Path) -> None:
        self._app = QCoreApplication.instance() or QCoreApplication([])
        # Ends each wait, which would be for ever without an event; a loop that never sleeps would
        # take Python's lock from the threads that are waited for.
        self._ticks = QTimer()
        self._ticks.start(5)
        self._folder = folder
        self._file = folder / "cache" / "gallery" / "index.sqlite"
        self.index = GalleryIndex(folder / "state", folder / "cache", folder / "pictures")

    def wait(self, condition: Callable[[], bool]) -> None:
        """Handle events until something holds."""
        end = time.monotonic() + _PATIENCE_S
        while not condition():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.monotonic() > end:
                raise TimeoutError

    def search(self, query: GalleryQuery) -> list[int]:
        """Return the ids of a search."""
        found: list[list[int]] = []
        self.index.search(query, lambda results: found.append(results.ids))
        self.wait(lambda: bool(found))
        return found[0]

    def measure(self) -> GalleryFigures:
        """Open the gallery, let it scan, then search."""
        opened, scanned, stall = self._open()
        self.wait(lambda: self.index.facets.total > 0)
        searches = {
            name: _median_ms(lambda query=query: self.search(query))
            for name, query in SEARCHES.items()
        }
        ids = self.search(GalleryQuery())
        figures = GalleryFigures(
            pictures=len(ids),
            opened_ms=1000 * opened,
            scanned_s=scanned,
            longest_stall_ms=1000 * stall,
            searches_ms=searches,
            first_searches_ms={
                name: _median_ms(lambda query=query: Searcher().search(self._file, query))
                for name, query in SEARCHES.items()
            },
            page_ms=self._page_ms(ids),
            facets_ms=self._facets_ms(),
            rate_ms=_median_ms(lambda: self.index.rate(ids[:_PAGE], 3), rounds=1),
            memory=private_bytes(os.getpid()) or 0,
            index_bytes=sum(
                file.stat().st_size for file in (self._folder / "cache").rglob("index*")
            ),
        )
        self.index.close()
        return figures

    def _open(self) -> tuple[float, float, float]:
        """Return seconds until the first page, until all is scanned, and of the longest stall."""
        watch = StallWatch()
        watch.start()
        start = time.perf_counter()
        self.index.start()
        self.index.rows(self.search(GalleryQuery())[:_PAGE])
        opened = time.perf_counter() - start
        self.wait(lambda: self.index.folders[0].state is FolderState.READY)
        scanned = time.perf_counter() - start
        return opened, scanned, max((stall.seconds for stall in watch.stop()), default=0.0)

    def _page_ms(self, ids: list[int]) -> float:
        """Return the median time to fetch a page that was not shown before."""
        starts = iter(range(0, len(ids), max(_PAGE, len(ids) // 20)))

        def fetch() -> None:
            first = next(starts, 0)
            self.index.rows(ids[first : first + _PAGE])

        return _median_ms(fetch)

    def _facets_ms(self) -> float:
        return _median_ms(lambda: read_facets(self._file, Precedence()))


def _median_ms(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(Session(Path(sys.argv[1])).measure()))
