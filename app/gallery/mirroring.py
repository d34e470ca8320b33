"""Marks copied to where searches and other programs see them: the index, and XMP sidecars."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.gallery.database import PATIENCE_S, opened
from app.gallery.marks import Marked, MarkStore
from app.gallery.outcomes import Broken, Fault, attempt
from app.gallery.reading import paths_of
from app.gallery.rows import NO_MARKS, Marks
from app.gallery.sidecars import write_sidecar
from app.gallery.writing import transaction, write_marks
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo

# The wait before a busy index is tried again, and the patience with it at the end.
_BUSY_MS = 3000
_LAST_PATIENCE_S = 1.0


class Mirror(QObject):
    """Copies marks on another thread; those that an index did not take are copied later.

    Of a picture that is marked again meanwhile, only the latest marks are copied.
    """

    # Marks are copied, or could not be.
    ended = Signal()
    # Broken: the index, which was not merely busy, did not take them.
    broken = Signal(object)
    # ErrorInfo: sidecars could not be written.
    failed = Signal(object)

    def __init__(self, pool: Background, parent: QObject) -> None:
        """`pool` has one thread."""
        super().__init__(parent)
        self._pool = pool
        self._index = Path()
        # By identity, each with True for one that goes to sidecars, too.
        self._owed: dict[bytes, tuple[Marked, bool]] = {}
        self._under_way: dict[bytes, tuple[Marked, bool]] = {}
        self._outcome: ErrorInfo | Broken | None = None
        self._freed = QTimer(self, singleShot=True, interval=_BUSY_MS)
        self._freed.timeout.connect(self.again)
        pool.failed.connect(self._on_failed)

    def copy(self, index: Path, marked: Mapping[bytes, Marked], *, sidecars: bool) -> None:
        """Copy marks, by identity, to the index; with `sidecars`, also beside the pictures."""
        self._index = index
        self._owe({identity: (mark, sidecars) for identity, mark in marked.items()})
        self.again()

    def again(self) -> None:
        """Copy what is owed, unless something is being copied."""
        if self._under_way or not self._owed:
            return
        self._under_way, self._owed = self._owed, {}
        self._pool.run(partial(self._copy, self._index, self._under_way), self._take, must=True)

    def close(self) -> None:
        """Wait for what is being copied, and copy the rest."""
        self._freed.stop()
        self._pool.close()
        if isinstance(self._outcome, Broken):
            self._give_back()
        if self._owed:
            attempt(lambda: mirror(self._index, self._owed, patience_s=_LAST_PATIENCE_S))

    def _copy(self, index: Path, owed: Mapping[bytes, tuple[Marked, bool]]) -> None:
        self._outcome = attempt(lambda: mirror(index, owed))

    def _take(self, _done: None) -> None:
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, Broken):
            self._give_back()
            if outcome.fault is Fault.BUSY:
                self._freed.start()
            else:
                self.broken.emit(outcome)
        elif outcome is not None:
            self.failed.emit(outcome)
        self._under_way = {}
        if not isinstance(outcome, Broken):
            self.again()
        self.ended.emit()

    def _on_failed(self) -> None:
        """Note that a bug of ours ended the copying; the next marks begin it anew."""
        self._under_way = {}

    def _give_back(self) -> None:
        """Owe again what was not taken, but for what was marked anew."""
        later, self._owed = self._owed, self._under_way
        self._owe(later)

    def _owe(self, later: Mapping[bytes, tuple[Marked, bool]]) -> None:
        for identity, (mark, sidecars) in later.items():
            _, wanted = self._owed.get(identity, (mark, False))
            self._owed[identity] = mark, sidecars or wanted


def mirror(
    index: Path, owed: Mapping[bytes, tuple[Marked, bool]], *, patience_s: float = PATIENCE_S
) -> ErrorInfo | None:
    """Copy marks, by identity, to the index; those with True also beside the pictures.

    Returns why sidecars could not be written. Raises IndexBusyError, IndexDamagedError and
    sqlite3.Error.
    """
    marks = [(identity, marked.marks) for identity, (marked, _) in owed.items()]
    beside = [identity for identity, (_, sidecars) in owed.items() if sidecars]
    with opened(index, patience_s=patience_s) as connection:
        transaction(connection, lambda: write_marks(connection, marks))
        paths = paths_of(connection, beside)
    failed: list[tuple[str, Exception]] = []
    for path, identity in paths:
        marked, _ = owed[identity]
        try:
            write_sidecar(path, marked.marks, marked.at)
        except (OSError, ValueError) as error:
            failed.append((path, error))
    if not failed:
        return None
    path, error = failed[0]
    return ErrorInfo(
        ErrorCode.OUTPUT_NOT_WRITABLE,
        sentence("The stars of {n:,} pictures could not be written beside them.", n=len(failed)),
        sentence("They are kept by Safelight all the same."),
        f"{path}: {error}",
    )


def mirror_all(index: Path, store: MarkStore) -> None:
    """Give every picture in the index the marks of the journal, which may know more or less.

    Raises IndexBusyError, IndexDamagedError and sqlite3.Error.
    """
    with opened(index) as connection:
        rows = connection.execute(
            "SELECT DISTINCT identity, rating, favourite, rejected FROM pictures"
            " WHERE identity IS NOT NULL AND (rating > 0 OR favourite OR rejected)"
        ).fetchall()
        shown = {row[0]: Marks(row[1], bool(row[2]), bool(row[3])) for row in rows}
        kept = dict(store.all())
        differing = {
            identity: kept.get(identity, NO_MARKS)
            for identity in kept.keys() | shown.keys()
            if kept.get(identity, NO_MARKS) != shown.get(identity, NO_MARKS)
        }
        transaction(connection, lambda: write_marks(connection, differing.items()))
