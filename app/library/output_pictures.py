"""The pictures of the output folder, newest first. The list follows the files."""

from bisect import bisect_left
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.folder_watch import FolderWatch
from app.library.picture_files import Change, Picture, compare, list_pictures, newest_first

# Changes to the folder come in bursts: a picture is a temporary file, a rename and a sync.
_SETTLE_MS = 100
# Beyond this many separate places, or rows, a list is filled anew rather than patched.
_MOST_PATCHES, _MOST_ROWS = 50, 1000


class OutputPictures(QObject):
    """The pictures of one folder as a list with a signal before and after each change.

    Ranges are (first, last) rows, both included, as item models want them. A folder that cannot be
    read is an empty list; it may be there later.
    """

    inserting = Signal(int, int)
    inserted = Signal(int, int)
    removing = Signal(int, int)
    removed = Signal(int, int)
    resetting = Signal()
    was_reset = Signal()

    def __init__(self, folder: Path, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder
        self._background = background
        self._pictures: list[Picture] = []
        self._by_path: dict[str, Picture] = {}
        self._scanning = False
        self._stale = False
        self._watch = FolderWatch(background, self)
        self._watch.changed.connect(self._on_folder_changed)
        # To find the changes between the scan and the watching.
        self._watch.began.connect(self.refresh)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.refresh)

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, row: int) -> Picture:
        return self._pictures[row]

    @property
    def snapshot(self) -> tuple[Picture, ...]:
        """The present pictures, newest first."""
        return tuple(self._pictures)

    def find(self, path: str) -> Picture | None:
        """Return a picture as the latest list has it, also one whose row is still to come."""
        return self._by_path.get(path)

    def row_of(self, path: str) -> int | None:
        """Return the row of a picture; None if it is not in the list."""
        picture = self.find(path)
        if picture is None:
            return None
        row = bisect_left(self._pictures, newest_first(picture), key=newest_first)
        return row if self._pictures[row : row + 1] == [picture] else None

    def open(self, folder: Path) -> None:
        """Follow another folder from now on."""
        if folder != self.folder:
            self.folder = folder
            self._watch.watch(())
            self.refresh()

    def refresh(self) -> None:
        """Read the folder again, on another thread."""
        if self._scanning:
            self._stale = True
            return
        self._scanning = True
        before, folder = tuple(self._pictures), self.folder
        self._background.run(
            lambda: compare(before, list_pictures(folder)), self._apply, otherwise=self._give_up
        )

    def refresh_soon(self) -> None:
        """Read the folder again once changes to it have paused."""
        self._settled.start()

    def _on_folder_changed(self, _folder: str) -> None:
        self.refresh_soon()

    def _give_up(self) -> None:
        self._scanning = self._stale = False

    def _apply(self, change: Change) -> None:
        self._scanning = False
        self._by_path = change.by_path
        places = len(change.removed) + len(change.inserted)
        if places > _MOST_PATCHES or abs(len(change.after) - len(self._pictures)) > _MOST_ROWS:
            self._fill(change)
        else:
            self._patch(change)
        # It may have been made, or made anew, since it was last watched.
        self._watch.watch((str(self.folder),))
        if self._stale:
            self._stale = False
            self.refresh()

    def _fill(self, change: Change) -> None:
        self.resetting.emit()
        self._pictures = change.after
        self.was_reset.emit()

    def _patch(self, change: Change) -> None:
        for first, last in change.removed:
            self.removing.emit(first, last)
            del self._pictures[first : last + 1]
            self.removed.emit(first, last)
        for first, last in change.inserted:
            self.inserting.emit(first, last)
            self._pictures[first:first] = change.after[first : last + 1]
            self.inserted.emit(first, last)
