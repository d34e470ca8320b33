"""The gallery's pictures, for the window: found in folders, searched, marked. Without widgets."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.gallery.folders import FolderList
from app.gallery.listing import without_nested
from app.gallery.marks import MarkStore, changed_marks, undone_marks
from app.gallery.mirroring import Mirror
from app.gallery.outcomes import Broken, Fault, attempt
from app.gallery.precedence import Precedence
from app.gallery.query import GalleryQuery
from app.gallery.reading import read_facets
from app.gallery.row_cache import RowCache
from app.gallery.rows import (
    MOST_STARS,
    Facets,
    FolderState,
    GalleryRow,
    Marking,
    Marks,
    Results,
    Root,
    WatchedFolder,
)
from app.gallery.searching import Searcher
from app.gallery.thumbnails import ThumbnailFiles
from app.gallery.upkeep import Opened, Upkeep, open_index

# Searching again for each of many pictures that are read would slow their reading down.
_SOON_MS, _LATER_MS, _MANY = 300, 1500, 2000
_BUSY_MS = 3000
# The folder of files that can be made again, in that of the cache.
_FOLDER = "gallery"


class GalleryIndex(QObject):
    """The pictures of several folders, by ids that hold until they are gone.

    The page searches for ids, fetches rows of the ids that it shows, and searches again when
    `changed` tells that pictures came, went or were marked. All disk work but the rows' is done on
    other threads; rows are read from the index in about 2 ms for 200 of them.
    """

    # Pictures came, went or changed; at most some times a second.
    changed = Signal()
    # The ids of pictures whose marks were changed, of those fetched lately; `changed` follows.
    marked = Signal(object)
    # Pictures read of those to read; equal when all are, and both 0 if files only went.
    progress = Signal(int, int)
    # The list of folders, or the state of one.
    folders_changed = Signal()
    # What there is to filter by; a little after `changed`.
    facets_changed = Signal()
    # An ErrorInfo: marks or the index cannot be kept, or a bug of ours.
    failed = Signal(object)
    _journal_failed = Signal(object)

    def __init__(
        self, state: Path, cache: Path, output: Path, parent: QObject | None = None
    ) -> None:
        """Nothing is read before `start`. `output` is where new pictures are written."""
        super().__init__(parent)
        self.thumbnails = ThumbnailFiles(cache / _FOLDER)
        # What takes time from searches gives way to them by it.
        self.precedence = Precedence()
        # What the pictures can be filtered by, as last counted.
        self.facets = Facets()
        self._folder = cache / _FOLDER
        self._state, self._output = state, output
        self._list = FolderList(state)
        self._marks: MarkStore | None = None
        self._rows = RowCache()
        self._searcher = Searcher()
        self._searching = self._pool()
        # Apart, so that no search waits until all is counted.
        self._counting = self._pool()
        self._mirror = Mirror(self._pool(), self)
        self._upkeep = Upkeep(self._pool(), self.precedence, self)
        self._asked = 0
        self._started = False
        # Why the index could not be opened, until that is tried again, and what was told of it.
        self._shut: Broken | None = None
        self._told: Broken | None = None
        # The last search, while the index is not open, or could not answer it.
        self._unanswered: Callable[[], None] | None = None
        # How often the index was made again.
        self._makings = 0
        # Write stars and rejections into XMP sidecars, too.
        self.write_sidecars = False
        self._changes = QTimer(self, singleShot=True)
        self._connect()

    def _pool(self) -> Background:
        pool = Background(1, self)
        pool.failed.connect(self.failed)
        return pool

    def _connect(self) -> None:
        self._changes.timeout.connect(self.changed)
        self._changes.timeout.connect(self._count)
        self._journal_failed.connect(self.failed)
        self._upkeep.adopted.connect(self._adopt)
        self._upkeep.stepped.connect(self._on_stepped)
        self._upkeep.states_changed.connect(self.folders_changed)
        self._upkeep.broken.connect(self._on_broken)
        self._upkeep.made_again.connect(self._on_made_again)
        self._mirror.ended.connect(lambda: self._tell_change(_SOON_MS))
        self._mirror.broken.connect(self._on_broken)
        self._mirror.failed.connect(self.failed)

    # Folders

    @property
    def folders(self) -> tuple[WatchedFolder, ...]:
        """The watched folders, that of new pictures first."""
        states = self._upkeep.states
        paths = dict.fromkeys((self._output, *self._list.folders))
        return tuple(
            WatchedFolder(
                path,
                states.get(path, FolderState.WAITING),
                path != self._output,
                self._list.has_subfolders(path),
            )
            for path in paths
        )

    def add_folder(self, folder: Path) -> bool:
        """Watch another folder; return False if it is watched already, or too many are."""
        if folder == self._output or not self._list.add(folder):
            return False
        self._follow()
        return True

    def remove_folder(self, folder: Path) -> None:
        """Watch a folder no more; its pictures and their marks stay where they are."""
        self._list.remove(folder)
        self._follow()

    def use_subfolders(self, folder: Path, *, wanted: bool) -> None:
        """Watch a folder's subfolders, too, or no longer."""
        self._list.use_subfolders(folder, wanted=wanted)
        self._follow()

    def open(self, output: Path) -> None:
        """Follow another folder of new pictures from now on."""
        if output != self._output:
            self._output = output
            self._follow()

    def refresh(self) -> None:
        """Look for changes that were not told, as when the window comes to the front."""
        if self._shut is None:
            self._upkeep.scan()
        else:
            self._told, self._shut = self._shut, None
            self._open()

    def rescan(self) -> None:
        """List every folder again, which also finds files that were changed in place."""
        self._upkeep.scan(thorough=True)

    def _follow(self) -> None:
        self._upkeep.follow(self._roots)
        self.folders_changed.emit()

    @property
    def _roots(self) -> tuple[Root, ...]:
        return without_nested(Root(folder.path, folder.with_subfolders) for folder in self.folders)

    # Pictures

    def search(self, query: GalleryQuery, done: Callable[[Results], None]) -> None:
        """Find pictures on another thread, then call `done` with them.

        A search that is overtaken by a later one is not answered; one that fails is tried again.
        """
        # A later search takes the place of one that was to be tried again.
        self._unanswered = None
        self._asked += 1
        asked, makings = self._asked, self._makings

        def find() -> Results | Broken | None:
            # Of several that wait, only the last is worth the time.
            if asked != self._asked:
                return None
            return attempt(lambda: self._searcher.search(self._upkeep.index, query))

        def deliver(found: Results | Broken | None) -> None:
            if asked != self._asked or found is None:
                return
            if not isinstance(found, Broken):
                done(found)
                self.precedence.end()
                return
            self.precedence.end()
            if makings != self._makings:
                # It looked into the index that was put aside, or into none.
                self.search(query, done)
                return
            self._unanswered = lambda: self.search(query, done)
            self._on_broken(found, self._ask_again)

        if self._marks is None:
            self._unanswered = lambda: self.search(query, done)
        else:
            self.precedence.begin()
            self._searching.run(find, deliver)

    def collect(self, query: GalleryQuery, done: Callable[[Results], None]) -> None:
        """Find pictures for a deed; unlike `search` it is answered whatever is searched later."""

        def again() -> None:
            self.collect(query, done)

        def deliver(found: Results | Broken) -> None:
            if isinstance(found, Broken):
                self._on_broken(found, again)
            else:
                done(found)

        if self._marks is None:
            QTimer.singleShot(_BUSY_MS, self, again)
        else:
            index = self._upkeep.index
            self._searching.run(
                lambda: attempt(lambda: self._searcher.search(index, query)), deliver
            )

    def rows(self, ids: Sequence[int]) -> list[GalleryRow]:
        """Return the rows of some ids in their order, without those that are gone.

        Pages of about 200 are quickest: rows that were fetched lately are kept.
        """
        found = attempt(lambda: self._rows.get(ids))
        if isinstance(found, Broken):
            self._on_broken(found)
            return []
        return found

    def row(self, picture: int) -> GalleryRow | None:
        """Return the row of an id; None if it is gone."""
        found = self.rows([picture])
        return found[0] if found else None

    def id_of(self, path: str) -> int | None:
        """Return the id of a file; None if it is not in the index, or not yet."""
        found = attempt(lambda: self._rows.find(Path(path)))
        return None if isinstance(found, Broken) else found

    # Marks

    def rate(self, ids: Sequence[int], stars: int) -> Marking:
        """Give pictures 0 to 5 stars; the result can be undone."""
        rating = max(0, min(stars, MOST_STARS))
        return self._change(ids, lambda marks: Marks(rating, marks.favourite, marks.rejected))

    def favourite(self, ids: Sequence[int], is_favourite: bool) -> Marking:
        """Make pictures favourites, or ordinary ones."""
        return self._change(ids, lambda marks: Marks(marks.rating, is_favourite, marks.rejected))

    def reject(self, ids: Sequence[int], is_rejected: bool) -> Marking:
        """Reject pictures, or take them back; their files stay where they are."""
        return self._change(ids, lambda marks: Marks(marks.rating, marks.favourite, is_rejected))

    def undo(self, marking: Marking) -> Marking:
        """Take a change of marks back; what was marked otherwise since stays. Return the change."""
        return Marking(()) if self._marks is None else self._set(undone_marks(self._marks, marking))

    def _change(self, ids: Sequence[int], change: Callable[[Marks], Marks]) -> Marking:
        identities = attempt(lambda: self._rows.identities(ids))
        if isinstance(identities, Broken):
            self._on_broken(identities)
            return Marking(())
        if self._marks is None:
            return Marking(())
        return self._set(changed_marks(self._marks, identities, change))

    def _set(self, marks: dict[bytes, Marks], *, sidecars: bool = True) -> Marking:
        if self._marks is None:
            return Marking(())
        marking = self._marks.set(marks)
        changed = {identity: marks[identity] for identity, _ in marking.before}
        if not changed:
            return marking
        self.marked.emit(self._rows.mark(changed))
        marked = self._marks.marked(changed)
        self._mirror.copy(self._upkeep.index, marked, sidecars=sidecars and self.write_sidecars)
        return marking

    def _adopt(self, marks: dict[bytes, Marks]) -> None:
        """Keep marks that sidecars told."""
        self._set(marks, sidecars=False)

    def _count(self) -> None:
        """Count on another thread what pictures can be filtered by."""

        def deliver(found: Facets | Broken) -> None:
            if isinstance(found, Broken):
                self._on_broken(found)
                if found.fault is Fault.BUSY:
                    self._tell_change(_BUSY_MS)
            elif found != self.facets:
                self.facets = found
                self.facets_changed.emit()

        index, precedence = self._upkeep.index, self.precedence
        self._counting.run(lambda: attempt(lambda: read_facets(index, precedence)), deliver)

    # The course of things

    def start(self) -> None:
        """Open the index, or make it, and scan the folders; on another thread, and only once."""
        if self._started:
            return
        self._started = True
        self._open()

    def _open(self) -> None:
        state, folder = self._state, self._folder

        def open_() -> Opened | Broken:
            return attempt(lambda: open_index(state, folder, self._journal_failed.emit))

        self._upkeep.pool.run(open_, self._on_opened)

    def close(self) -> None:
        """Write marks, and stop; takes up to a second. What is not read yet is read next time.

        A folder that does not answer holds all but the marks and the list of folders.
        """
        self._list.close()
        self._mirror.close()
        self._upkeep.close()
        self._searching.close()
        self._counting.close()
        self._rows.close()
        self.thumbnails.close()
        if self._marks is not None:
            self._marks.close()

    def _on_opened(self, opened: Opened | Broken) -> None:
        if isinstance(opened, Broken):
            if opened.fault is Fault.BUSY:
                QTimer.singleShot(_BUSY_MS, self, self._open)
                return
            self._shut = opened
            if opened != self._told:
                self.failed.emit(opened.error(self._folder))
            return
        self._marks = opened.marks
        for problem in filter(None, (self._list.problem, opened.marks.problem)):
            self.failed.emit(problem)
        self._open_rows(opened.index)
        self._upkeep.open(opened, self._roots)
        self._ask_again()
        self._count()

    def _open_rows(self, index: Path) -> None:
        """Read rows from an index from now on."""
        if self._marks is not None:
            self._rows.open(index, self._marks)

    def _ask_again(self) -> None:
        ask, self._unanswered = self._unanswered, None
        if ask is not None:
            ask()

    def _on_stepped(self, done: int, total: int) -> None:
        self._rows.forget()
        if done == total:
            # What an index that was made again did not take.
            self._mirror.again()
        self.progress.emit(done, total)
        self._tell_change(_LATER_MS if total - done > _MANY else _SOON_MS)

    def _tell_change(self, wait_ms: int) -> None:
        if not self._changes.isActive() or self._changes.remainingTime() > wait_ms:
            self._changes.start(wait_ms)

    def _on_broken(self, broken: Broken, again: Callable[[], None] | None = None) -> None:
        """Act on an index that did not answer; one that was busy is asked `again` in a while."""
        if broken.fault is Fault.BUSY and again is not None:
            QTimer.singleShot(_BUSY_MS, self, again)
        elif broken.fault is Fault.DISK:
            self.failed.emit(broken.error(self._folder))
        elif broken.fault is Fault.DAMAGED:
            # Before the file is put aside, which Windows refuses while it is open.
            self._rows.close()
            self._upkeep.make_again()

    def _on_made_again(self) -> None:
        self._makings += 1
        self._open_rows(self._upkeep.index)
        self._ask_again()
        self._tell_change(_SOON_MS)
