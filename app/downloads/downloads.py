"""The list of downloads: one after another on a thread, kept in a file, paused and resumed."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import msgspec

from app.downloads.entries import ACTIVE, Download, DownloadState, Purpose
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.fetch import fetch, forget
from app.downloads.kept_list import KeptList
from app.downloads.part import arrived
from app.downloads.progress import Progress, Reached
from app.downloads.room import require_room
from app.downloads.source import Source
from app.downloads.terms import USUAL_TERMS, Terms
from engine.api.values import ErrorInfo

_UNFINISHED = ACTIVE | {DownloadState.WAITING}
_log = logging.getLogger(__name__)


class Downloads:
    """Downloads files one entry at a time, in the order of the list.

    Each method may be called on any thread and returns at once. `changed` gets every new state of
    an entry, and `removed` the id of one that is gone, on the thread where that happens; they must
    wait for no other thread. Nothing is connected to before `start`.
    """

    def __init__(
        self,
        state: Path,
        *,
        changed: Callable[[Download], None],
        removed: Callable[[str], None],
        terms: Terms = USUAL_TERMS,
    ) -> None:
        """Read the list that the last session left in the folder `state`, as it was."""
        self._changed, self._removed, self._terms = changed, removed, terms
        self._kept = KeptList(state)
        self._list = {entry.id: _with_bytes_here(entry) for entry in self._kept.entries}
        self._discarded: list[Download] = []
        self._news = threading.Condition(threading.RLock())
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="downloads", daemon=True)

    @property
    def problem(self) -> ErrorInfo | None:
        """The problem with the file of the list, for a person, if it could not be read."""
        return self._kept.problem

    @property
    def entries(self) -> tuple[Download, ...]:
        """The downloads in their order."""
        with self._news:
            return tuple(self._list.values())

    def find(self, name: str) -> Download | None:
        """Return the download with an id."""
        with self._news:
            return self._list.get(name)

    def start(self) -> None:
        """Go on with what was under way; what is added later begins by itself."""
        self._thread.start()

    def close(self) -> None:
        """Stop within a moment, at most 3 s; what is under way goes on at the next start."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        if self._thread.is_alive():
            # A disk that takes longer to sync a file may do so on its own.
            self._thread.join(3)
        self._kept.close()

    def add(self, title: str, purpose: Purpose, files: tuple[Source, ...], folder: Path) -> str:
        """Append a download and return its id; one of the same files goes on instead."""
        with self._news:
            for entry in self._list.values():
                if (entry.files, entry.folder) == (files, folder):
                    self.resume(entry.id)
                    return entry.id
            name = uuid4().hex
            entry = Download(id=name, title=title, purpose=purpose, files=files, folder=folder)
            self._put(_with_bytes_here(entry))
            return name

    def pause(self, name: str) -> None:
        """Stop a download until it is resumed, also in a later session."""
        with self._news:
            entry = self._list.get(name)
            if entry is not None and entry.state in _UNFINISHED:
                self._put(_in_state(entry, DownloadState.PAUSED))

    def resume(self, name: str) -> None:
        """Go on with a download that was paused, or try again one that failed.

        The files of one that was done are looked for again.
        """
        with self._news:
            entry = self._list.get(name)
            if entry is not None and entry.state not in _UNFINISHED:
                self._put(_in_state(entry, DownloadState.WAITING))

    def remove(self, name: str) -> None:
        """Take a download off the list. Parts of files are removed; whole files stay."""
        with self._news:
            entry = self._list.pop(name, None)
            if entry is None:
                return
            self._discarded.append(entry)
            self._keep()
            self._removed(name)

    def put_first(self, name: str) -> None:
        """Make a download the next one; the one that is running goes on."""
        with self._news:
            entry = self._list.pop(name, None)
            if entry is not None:
                self._list = {name: entry, **self._list}
                self._keep()
                self._changed(entry)

    def _put(self, entry: Download) -> None:
        self._list[entry.id] = entry
        self._keep()
        self._changed(entry)

    def _keep(self) -> None:
        self._kept.write(self._list.values())
        self._news.notify_all()

    def _run(self) -> None:
        while (entry := self._next()) is not None:
            problem = self._download(entry)
            with self._news:
                reached = self._list.get(entry.id)
                if self._is_wanted(entry.id) and reached is not None:
                    state = DownloadState.FAILED if problem else DownloadState.DONE
                    self._put(_in_state(reached, state, problem))

    def _next(self) -> Download | None:
        """Wait for an entry to download, and mark it as running; None once the list is closed."""
        while True:
            with self._news:
                if not self._discarded:
                    if self._is_closed:
                        return None
                    for entry in self._list.values():
                        if entry.state in _UNFINISHED:
                            running = _in_state(entry, DownloadState.RUNNING)
                            self._put(running)
                            return running
                    self._news.wait()
                    continue
                discarded, wanted = self._discarded.pop(), self._names_to_come()
            # Without the lock: a disk may take seconds for it, and the window asks for the list.
            _discard_parts(discarded, wanted)

    def _names_to_come(self) -> set[tuple[Path, str]]:
        """Return the folder and the name of each file of the list that is not here yet."""
        return {
            (entry.folder, file.file_name)
            for entry in self._list.values()
            if entry.state is not DownloadState.DONE
            for file in entry.files
        }

    def _download(self, entry: Download) -> DownloadProblem | None:
        """Download the files of an entry that is running; return why that failed."""

        def tell(reached: Reached) -> None:
            self._tell(entry.id, reached)

        def is_unwanted() -> bool:
            progress.on_time()
            return not self._is_wanted(entry.id)

        progress = Progress(tell)
        try:
            # Before the first file: the last one may be the one that does not fit.
            require_room(entry.title, entry.files, entry.folder)
            for file in entry.files:
                fetch(
                    file,
                    entry.folder,
                    on_progress=progress.on_bytes,
                    on_verifying=progress.on_verifying,
                    cancelled=is_unwanted,
                    terms=self._terms,
                )
                progress.on_whole_file(file.size)
        except DownloadError as error:
            return error.problem
        except Exception as error:  # the boundary that reports  # noqa: BLE001
            _log.exception("in a download")
            detail = f"{type(error).__name__}: {error}"
            return DownloadProblem(code=DownloadCode.INTERNAL, file=entry.title, detail=detail)
        return None

    def _is_wanted(self, name: str) -> bool:
        """True unless the running download was paused or removed, or the list was closed."""
        with self._news:
            entry = self._list.get(name)
            return not self._is_closed and entry is not None and entry.state in ACTIVE

    def _tell(self, name: str, reached: Reached) -> None:
        """Take the progress of the running download over; the file is not written for it."""
        with self._news:
            if self._is_wanted(name):
                entry = msgspec.structs.replace(
                    self._list[name],
                    state=reached.state,
                    bytes_done=reached.bytes_done,
                    bytes_per_second=reached.bytes_per_second,
                )
                self._list[name] = entry
                self._changed(entry)


def _in_state(
    entry: Download, state: DownloadState, problem: DownloadProblem | None = None
) -> Download:
    done = entry.size if state is DownloadState.DONE else entry.bytes_done
    return msgspec.structs.replace(
        entry, state=state, bytes_done=done, bytes_per_second=0.0, problem=problem
    )


def _with_bytes_here(entry: Download) -> Download:
    """Return an entry with the bytes of it that are on the disk, as no file keeps their number."""
    here = sum(arrived(file, entry.folder) for file in entry.files)
    return msgspec.structs.replace(entry, bytes_done=here, bytes_per_second=0.0)


def _discard_parts(entry: Download, wanted: set[tuple[Path, str]]) -> None:
    """Remove the parts of an entry's files, but those that another entry goes on with."""
    for file in entry.files:
        if (entry.folder, file.file_name) in wanted:
            continue
        try:
            forget(file, entry.folder)
        except OSError as error:
            _log.warning("a part of a download stays: %s", error)
