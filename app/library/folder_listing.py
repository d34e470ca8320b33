"""A list of files that the engine makes, and makes again when their folders change."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.folder_watch import FolderWatch
from app.library.checkpoint_store import ENGINE_FAILURES
from engine.api.values import ErrorInfo

# Changes to a folder come in bursts: a download is a temporary file, a rename and its card.
_SETTLE_MS = 300
# While files are read for the first time, the list is shown anew at most this often.
_SHOWN_MS = 150
# A system watches a limited number of folders; those beyond are read when somebody asks again.
_MOST_WATCHED = 1000


class _Listed(Protocol):
    """A description of a file; one that is not read has only what the disk tells."""

    @property
    def path(self) -> str: ...
    @property
    def is_read(self) -> bool: ...


ListedT = TypeVar("ListedT", bound=_Listed)


class FolderListing(QObject, Generic[ListedT]):
    """The files in some folders, by path; nothing is listed before the first `refresh`."""

    changed = Signal()
    # True while files are listed or opened.
    listing_changed = Signal(bool)

    def __init__(
        self,
        roots: Callable[[], Iterable[str]],
        ask: Callable[[Iterable[str]], int],
        background: Background,
        parent: QObject,
    ) -> None:
        """`roots` returns the folders to look into; `ask` sends their query, returns its number."""
        super().__init__(parent)
        self._roots, self._ask = roots, ask
        self.files: dict[str, ListedT] = {}
        # False until the first list is complete.
        self.is_listed = False
        # That of the latest query: whoever wants a list asks again, not whoever lacks one.
        self.failure: ErrorInfo | None = None
        # The query that is not answered yet.
        self.query: int | None = None
        self._seen: set[str] = set()
        self._stale = self._again = False
        self._shown = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._shown.timeout.connect(self.changed)
        self._watch = FolderWatch(background, self)
        self._parents: set[str] = set()
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.refresh)
        self._watch.changed.connect(self._settled.start)
        # To find the changes between the listing and the watching.
        self._watch.began.connect(self._settled.start)

    @property
    def is_listing(self) -> bool:
        """True while files are listed or opened."""
        return self.query is not None

    def refresh(self) -> None:
        """Have the engine list the folders again."""
        if self.query is not None:
            self._stale = True
            return
        self._seen, self.failure = set(), None
        self.query = self._ask(self._roots())
        self.listing_changed.emit(True)

    def add(self, files: Iterable[ListedT]) -> None:
        """Take files that the query found; those that were read stay so until they are again."""
        for file in files:
            self._seen.add(file.path)
            if file.is_read or file.path not in self.files:
                self.files[file.path] = file
        if not self._shown.isActive():
            self._shown.start()

    def finish(self, folders: Iterable[str]) -> None:
        """Drop what the query did not find, and watch the folders that it looked through."""
        self.files = {path: file for path, file in self.files.items() if path in self._seen}
        self.is_listed, self._again = True, False
        self._follow(folders)
        self._shown.stop()
        self._end()
        self.changed.emit()

    def fail(self, error: ErrorInfo) -> None:
        """End a query that failed; ask once more if it was the engine that did."""
        # Once only: a file may have made the engine fail.
        again, self._again = self._again, not self._again
        self.failure = error
        self._end()
        if error.code in ENGINE_FAILURES and not again:
            self.refresh()

    def _end(self) -> None:
        self.query = None
        self.listing_changed.emit(False)
        if self._stale:
            self._stale = False
            self.refresh()

    def _follow(self, folders: Iterable[str]) -> None:
        listed = tuple(folders)[:_MOST_WATCHED]
        # A folder that is moved away, or a disk that is taken out, changes the one it is in.
        self._parents |= {str(Path(folder).parent) for folder in (*listed, *self._roots())}
        self._watch.watch((*listed, *self._parents))
