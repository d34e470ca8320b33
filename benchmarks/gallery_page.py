"""The Gallery's page over many pictures: `python -m benchmarks.gallery_page FOLDER`, prints JSON.

The folder is one that `benchmarks.gallery_session` has indexed. Times are of the GUI thread, with
frames drawn as for a window of 1440 x 900.
"""

import compileall
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QScrollBar

from app.__main__ import favour_the_gui_thread, make_session
from app.garbage import GarbageCollection
from app.paths import find_paths
from benchmarks.child import ROOT
from benchmarks.measure import private_bytes
from ui.gallery.page import GalleryPage
from ui.main_window import MainWindow
from ui.places import Place
from ui.theme.theme import Theme

_PATIENCE_S = 120.0
# So many that the 99th percentile leaves some out.
_FRAMES = 400
_WORDS, _ROUNDS = ("portrait", "an", "castle storm"), 5


class PageFigures(msgspec.Struct, frozen=True):
    """One page's figures: milliseconds, pictures, and bytes of private memory.

    `opened_ms` is from the click on the place to a drawn grid; a frame is a scroll to another part
    of the grid and what is done there, its pictures new to it in each: the median, the 95th and
    99th percentiles, and the longest of them. `search_ms` is from a change of the words to a drawn
    grid of what they find, for the slowest of some.
    """

    pictures: int
    opened_ms: float
    frame_ms: float
    frame_95_ms: float
    frame_99_ms: float
    longest_frame_ms: float
    search_ms: float
    resize_ms: float
    memory: int


class Bench:
    """A window whose Gallery is opened and scrolled."""

    def __init__(self, folder: Path) -> None:
        # As an installation is: pages read code ahead between frames.
        for part in ("app", "engine", "ui"):
            compileall.compile_dir(ROOT / part, quiet=2)
        self._application = QApplication([])
        GarbageCollection(self._application)
        # Ends each wait, which would be for ever without an event; a loop that never sleeps would
        # take Python's lock from the threads that are waited for.
        self._ticks = QTimer()
        self._ticks.start(5)
        paths = find_paths({"SAFELIGHT_LOGS": str(folder / "logs")})
        self._session = make_session(
            msgspec.structs.replace(
                paths,
                output=folder / "pictures",
                cache=folder / "cache",
                state=folder / "state",
                models=folder / "models",
            )
        )
        self._window = MainWindow(self._session, Theme(self._application))
        self._window.resize(1440, 900)
        self._window.show()
        favour_the_gui_thread()
        self._application.processEvents()

    def measure(self) -> PageFigures:
        """Open the page, scroll through all of it, and resize the window."""
        start = time.perf_counter()
        self._window.places.open(Place.GALLERY)
        page = self._window.places.page
        assert isinstance(page, GalleryPage)
        grid = page.browser.grid
        self._wait(lambda: page.browser.count > 0)
        grid.viewport().repaint()
        opened = time.perf_counter() - start
        bar = grid.verticalScrollBar()
        frames = [1000 * self._scroll(bar, at / _FRAMES) for at in range(_FRAMES)]
        percentiles = statistics.quantiles(frames, n=100, method="inclusive")
        searched = max(self._search(page, words) for words in _WORDS)
        self._type(page, "")
        start = time.perf_counter()
        self._window.resize(1300, 900)
        grid.viewport().repaint()
        resized = time.perf_counter() - start
        figures = PageFigures(
            pictures=page.browser.count,
            opened_ms=1000 * opened,
            frame_ms=percentiles[49],
            frame_95_ms=percentiles[94],
            frame_99_ms=percentiles[98],
            longest_frame_ms=max(frames),
            search_ms=1000 * searched,
            resize_ms=1000 * resized,
            memory=private_bytes(os.getpid()) or 0,
        )
        self._window.close_background()
        self._session.close()
        return figures

    def _search(self, page: GalleryPage, words: str) -> float:
        """Return the median seconds from typed words to a drawn grid of what they find."""
        times: list[float] = []
        for _ in range(_ROUNDS):
            self._type(page, "")
            times.append(self._type(page, words))
        return statistics.median(times)

    def _type(self, page: GalleryPage, words: str) -> float:
        shown: list[bool] = []
        page.browser.model.modelReset.connect(lambda: shown.append(True))
        start = time.perf_counter()
        page.browser.search.words.setText(words)
        if words != page.browser.search.query.words:
            self._wait(lambda: bool(shown))
        page.browser.grid.viewport().repaint()
        return time.perf_counter() - start

    def _scroll(self, bar: QScrollBar, share: float) -> float:
        """Scroll to a share of the grid's height; return the seconds until it is drawn."""
        start = time.perf_counter()
        bar.setValue(round(share * bar.maximum()))
        self._application.processEvents()
        return time.perf_counter() - start

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not condition():
            self._application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.monotonic() > end:
                raise TimeoutError


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.stdout.buffer.write(msgspec.json.encode(Bench(Path(sys.argv[1])).measure()))
