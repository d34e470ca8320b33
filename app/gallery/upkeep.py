"""Keeps the index true to the files: opens it, scans, watches folders, makes it again."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.folder_watch import FolderWatch
from app.gallery.database import FILE, check, make_again, prepare
from app.gallery.marks import MarkStore
from app.gallery.mirroring import mirror_all
from app.gallery.outcomes import Broken, Fault, attempt
from app.gallery.precedence import Precedence
from app.gallery.rows import FolderState, Root
from app.gallery.scanning import Scan, Scanned, Step
from engine.api.values import ErrorInfo
from engine.file_paths import is_folder

# Changes to folders come in bursts: a picture is a temporary file, a rename and a sync.
_SETTLE_MS = 200
# The wait before files are looked at again that may still have been growing.
_UNSETTLED_MS = 3200
_BUSY_MS = 3000
# Systems watch only so many folders for a program; the others are looked at by `scan`.
_MOST_WATCHED = 1000


class Opened(msgspec.Struct, frozen=True):
    """An index that is ready, and the marks of its pictures."""

    index: Path
    marks: MarkStore


def open_index(state: Path, folder: Path, failed: Callable[[ErrorInfo], None]) -> Opened:
    """Open the index in a folder, or make it, and read the marks. Raises as `prepare` does.

    `failed` is told on another thread that marks cannot be kept.
    """
    prepare(folder)
    return Opened(folder / FILE, MarkStore(state, failed))


class Upkeep(QObject):
    """Scans one at a time; signals are emitted on this object's thread."""

    # Pictures read, and to read.
    stepped = Signal(int, int)
    # Marks by identity that sidecars told.
    adopted = Signal(object)
    states_changed = Signal()
    # Broken
    broken = Signal(object)
    # The index was put aside and made again, empty.
    made_again = Signal()
    _told = Signal(object)

    def __init__(
        self, pool: Background, precedence: Precedence, parent: QObject | None = None
    ) -> None:
        """`pool` has one thread; its scans give way to searches."""
        super().__init__(parent)
        self.pool = pool
        self._precedence = precedence
        self.states: dict[Path, FolderState] = {}
        self.index = Path()
        self._marks: MarkStore | None = None
        self._roots: tuple[Root, ...] = ()
        self._stop = Event()
        self._scanning = self._again = self._making = False
        # The index was to be made again, and could not be.
        self._unmade = False
        self._thorough = True
        # The folders that the system told of since the last scan began.
        self._changed: set[str] = set()
        self._told.connect(self._on_step)
        pool.failed.connect(self._on_failed)
        self._watch = FolderWatch(pool, self)
        # The folders that a scan visited; the others that are watched only hold roots.
        self._visited: frozenset[str] = frozenset()
        self._settled = self._timer(_SETTLE_MS, self.scan)
        self._grown = self._timer(_UNSETTLED_MS, self.scan)
        self._freed = self._timer(_BUSY_MS, self.scan)
        self._moved = self._timer(_SETTLE_MS, self._look_for_roots)
        self._watch.changed.connect(self._on_folder_changed)
        # To find the changes between the scan and the watching.
        self._watch.began.connect(self._settled.start)

    def _timer(self, wait_ms: int, then: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=wait_ms)
        timer.timeout.connect(then)
        return timer

    def open(self, opened: Opened, roots: tuple[Root, ...]) -> None:
        """Check the index, then scan the roots."""
        self.index, self._marks, self._roots = opened.index, opened.marks, roots
        self._start(first=True)

    def follow(self, roots: tuple[Root, ...]) -> None:
        """Scan other roots from now on."""
        self._roots = roots
        paths = {root.path for root in roots}
        self.states = {path: state for path, state in self.states.items() if path in paths}
        self._stop.set()
        self.scan(thorough=True)

    def scan(self, *, thorough: bool = False) -> None:
        """Look for changes: in folders that changed, or with `thorough` in all."""
        self._thorough = self._thorough or thorough
        if self._scanning:
            self._again = True
        else:
            self._start()

    def make_again(self) -> None:
        """Put the index aside and make it again of the files; nobody may hold it open."""
        if self._making or self._marks is None:
            return
        self._making = True
        self._stop.set()

        def make() -> Broken | None:
            return attempt(lambda: make_again(self.index))

        self.pool.run(make, self._on_made)

    def close(self) -> None:
        """End the scan, which goes on next time."""
        self._stop.set()
        self.pool.close()

    def _start(self, *, first: bool = False) -> None:
        marks, roots, thorough = self._marks, self._roots, self._thorough
        if marks is None or self._making:
            return
        if self._unmade:
            self.make_again()
            return
        self._stop = stop = Event()
        self._scanning, self._thorough = True, False
        changed = frozenset(self._changed)
        self._changed.clear()
        for root in roots:
            if self.states.get(root.path) in (None, FolderState.WAITING):
                self.states[root.path] = FolderState.SCANNING
        self.states_changed.emit()
        index, precedence, tell = self.index, self._precedence, self._told.emit

        def work() -> Scanned:
            if first:
                check(index)
                mirror_all(index, marks)
            scan = Scan(index, marks, precedence, stop, tell, thorough=thorough, told=changed)
            return scan.run(roots)

        self.pool.run(lambda: attempt(work), self._on_scanned)

    def _on_folder_changed(self, folder: str) -> None:
        self._changed.add(folder)
        (self._settled if folder in self._visited else self._moved).start()

    def _look_for_roots(self) -> None:
        """Scan if a root came or went: systems do not tell a folder of its own new name."""
        paths = tuple(root.path for root in self._roots)

        def look() -> frozenset[Path]:
            return frozenset(filter(is_folder, paths))

        def looked(there: frozenset[Path]) -> None:
            missing = {path for path, state in self.states.items() if state is FolderState.MISSING}
            if there & missing or set(self.states) - there - missing:
                self.scan()

        self.pool.run(look, looked)

    def _on_step(self, step: Step) -> None:
        if step.adopted:
            self.adopted.emit(step.adopted)
        self.stepped.emit(step.done, step.total)

    def _on_scanned(self, outcome: Scanned | Broken) -> None:
        self._scanning = False
        again, self._again = self._again, False
        if self._stop.is_set():
            # It was not finished: folders may be noted as listed whose files were not read.
            self._thorough = True
            again = True
        elif isinstance(outcome, Broken):
            self._thorough = True
            self.broken.emit(outcome)
            if outcome.fault is Fault.BUSY:
                self._freed.start()
        else:
            self._take(outcome)
        if again:
            self._start()

    def _on_failed(self) -> None:
        """Note that a bug of ours ended the scan; the next change begins another one."""
        self._scanning = False
        self._thorough = True

    def _take(self, scanned: Scanned) -> None:
        self.states = scanned.states
        self.states_changed.emit()
        self._visited = frozenset(scanned.folders)
        holders = dict.fromkeys(str(root.path.parent) for root in self._roots)
        self._watch.watch((*holders, *scanned.folders[:_MOST_WATCHED]))
        if scanned.unsettled:
            self._grown.start()

    def _on_made(self, broken: Broken | None) -> None:
        self._making = False
        self._thorough = True
        self._unmade = broken is not None
        if broken is not None:
            # Tried again with the next scan, not at once: the disk may stay as it is for long.
            self.broken.emit(broken)
            if broken.fault is Fault.BUSY:
                self._freed.start()
            return
        self.made_again.emit()
        if not self._scanning:
            self._start()
