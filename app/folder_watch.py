"""Folders that are watched for changes, without waiting for drives that do not answer."""

from collections import deque
from collections.abc import Iterable

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.background import Background
from engine.file_paths import is_folder

# The system is told of so many folders at once: it looks each up, on a network drive over that.
_PIECE = 20


class FolderWatch(QObject):
    """Watches those of some folders that are there.

    That is asked on another thread first: a drive that sleeps, or that a lost network had, keeps
    whoever asks it for seconds.
    """

    # Something in a folder changed: its path.
    changed = Signal(str)
    # Folders are watched that were not before. What changed in them until now was not told.
    began = Signal()

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self.changed)
        self._wanted: tuple[str, ...] = ()
        # Folders that are there and are still to be watched.
        self._there: deque[str] = deque()
        self._has_begun = self._is_looking = self._is_stale = False
        self._next_piece = QTimer(self, singleShot=True, interval=0)
        self._next_piece.timeout.connect(self._add_piece)

    @property
    def folders(self) -> frozenset[str]:
        """The folders that are watched."""
        return frozenset(self._watcher.directories())

    def watch(self, folders: Iterable[str]) -> None:
        """Watch these folders from now on, and no others; a missing one when asked again."""
        self._wanted = tuple(dict.fromkeys(folders))
        if gone := self.folders - frozenset(self._wanted):
            self._watcher.removePaths(sorted(gone))
        self._look()

    def _look(self) -> None:
        # One question at a time: threads that wait for a drive are missing elsewhere.
        self._is_stale = self._is_looking
        watched = self.folders
        new = [folder for folder in self._wanted if folder not in watched]
        if new and not self._is_looking:
            self._is_looking = True
            self._background.run(lambda: list(filter(is_folder, new)), self._take)

    def _take(self, there: list[str]) -> None:
        self._is_looking = False
        wanted = frozenset(self._wanted)
        self._there = deque(folder for folder in there if folder in wanted)
        self._next_piece.start()
        if self._is_stale:
            self._look()

    def _add_piece(self) -> None:
        watched = self.folders
        piece = [self._there.popleft() for _ in range(min(_PIECE, len(self._there)))]
        new = [folder for folder in piece if folder not in watched]
        if new and len(self._watcher.addPaths(new)) < len(new):
            self._has_begun = True
        if self._there:
            self._next_piece.start()
        elif self._has_begun:
            self._has_begun = False
            self.began.emit()
