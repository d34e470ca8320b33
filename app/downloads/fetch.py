"""Downloads a file: resumed where it broke off, verified, and only then given its name."""

import logging
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.downloads.answers import Span, is_encoded, is_same_file, is_web_page, span_of, validator_of
from app.downloads.connection import LOOK_S, Answer, Stopped
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.part import Part, arrived, discard, is_there
from app.downloads.requests import Asker, Setback
from app.downloads.room import disk_problem, require_room
from app.downloads.source import Source
from app.downloads.terms import USUAL_TERMS, Terms
from app.staying_awake import staying_awake
from engine.file_lock import FileLock

# So often a file is begun anew at one address, because what had arrived was not of it.
_MOST_RESTARTS = 2
_log = logging.getLogger(__name__)


def fetch(
    source: Source,
    folder: Path,
    *,
    on_progress: Callable[[int], None],
    cancelled: Callable[[], bool],
    on_verifying: Callable[[], None] = lambda: None,
    terms: Terms = USUAL_TERMS,
) -> Path:
    """Download a file into a folder, which is made; return its path.

    What has arrived is kept beside it and taken up by the next call. `on_progress` gets the number
    of bytes that are here, `on_verifying` announces that those of an earlier time are read from the
    disk; `cancelled` is asked about ten times a second. If another process downloads the same file,
    this waits for it. Raises DownloadError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(source, folder, cancelled):
            if arrived(source, folder):
                on_verifying()
            if is_there(source, folder, cancelled):
                discard(source, folder)
                on_progress(source.size)
                return folder / source.file_name
            with staying_awake():
                return _Fetch(source, folder, terms, on_progress, cancelled).run()
    except Stopped:
        problem = DownloadProblem(code=DownloadCode.CANCELLED, file=source.file_name)
        raise DownloadError(problem) from None
    except OSError as error:
        raise DownloadError(disk_problem(source, folder, error)) from error


def forget(source: Source, folder: Path) -> None:
    """Remove what has arrived of a file that is not wanted any more, unless others download it.

    Raises OSError.
    """
    with suppress(Stopped, FileNotFoundError), _lock(source, folder, stopped=lambda: True):
        discard(source, folder)


class _Unfit(Exception):  # noqa: N818 (caught below)
    """An answer does not continue the part that is here."""


class _Fetch:
    """One download, whose lock is held."""

    def __init__(
        self,
        source: Source,
        folder: Path,
        terms: Terms,
        on_progress: Callable[[int], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._source, self._folder, self._terms = source, folder, terms
        self._on_progress, self._stopped = on_progress, stopped
        self._asker = Asker(source.file_name, source.hosts, terms, stopped)

    def run(self) -> Path:
        """Try the addresses in turn; return the path of the file.

        Raises Stopped, OSError of the disk, and the first address's DownloadError.
        """
        for url in self._source.urls:
            self._asker.require_encrypted(url)
        first: DownloadError | None = None
        for url in self._source.urls:
            try:
                return self._from(url)
            except DownloadError as error:
                _log.warning("%s (%s)", error, error.problem.detail)
                if error.code is DownloadCode.DISK_FULL:
                    raise
                first = first or error
        assert first is not None
        raise first

    def _from(self, url: str) -> Path:
        """Ask one address until the file is here, or no further attempt makes sense."""
        failures = restarts = furthest = 0
        while True:
            part = Part(self._source, self._folder, self._stopped)
            begun = part.length
            furthest = max(furthest, begun)
            self._on_progress(begun)
            try:
                if not part.is_whole:
                    self._receive(part, url)
                if part.is_right:
                    return part.finish()
                if not part.is_whole:
                    continue  # a server may send less than it was asked for
                error = self._mismatch(part, url)
            except _Unfit:
                error = self._asker.error(DownloadCode.WRONG_ANSWER, url)
            except Setback as setback:
                failures = 1 if part.length > furthest else failures + 1
                if failures >= self._terms.tries:
                    raise DownloadError(setback.problem) from setback
                self._asker.wait(setback.wait_s or self._terms.wait_s(failures))
                continue
            finally:
                part.close()
            discard(self._source, self._folder)
            restarts += 1
            if begun == 0 or restarts > _MOST_RESTARTS:
                raise error

    def _receive(self, part: Part, url: str) -> None:
        """Append one answer to the part.

        Raises _Unfit, Setback, Stopped, DownloadError, and OSError of the disk.
        """
        require_room(self._source.file_name, [self._source], self._folder)
        headers: dict[str, str] = {}
        if part.length:
            headers["Range"] = f"bytes={part.length}-"
            if part.validator(url):
                headers["If-Range"] = part.validator(url)
        with self._asker.ask(url, headers) as (answer, connection):
            span = self._span(part, url, answer)
            if span.begin == 0:
                part.restart(url, validator_of(answer))
            for chunk in connection.body():
                if part.length + len(chunk) > span.end:
                    part.restart()
                    raise self._asker.error(DownloadCode.WRONG_SIZE, url)
                part.write(chunk)
                self._on_progress(part.length)
        if part.length < span.end:
            raise Setback(self._asker.problem(DownloadCode.DROPPED, url))

    def _span(self, part: Part, url: str, answer: Answer) -> Span:
        """Return the bytes that an answer carries, if they continue the part or are the file."""
        if is_web_page(answer) and not self._source.file_name.endswith((".html", ".htm")):
            raise self._asker.error(DownloadCode.WEB_PAGE, url)
        if is_encoded(answer):
            raise self._asker.error(DownloadCode.WRONG_ANSWER, url, detail="it is compressed")
        span = span_of(answer, part.length, self._source.size)
        if span is not None and (span.begin == 0 or is_same_file(answer, part.validator(url))):
            return span
        if answer.status == 200:
            raise self._asker.error(DownloadCode.WRONG_SIZE, url)
        raise _Unfit

    def _mismatch(self, part: Part, url: str) -> DownloadError:
        beginning = part.first_bytes().lstrip().lower()
        is_page = beginning.startswith((b"<!doctype html", b"<html"))
        return self._asker.error(DownloadCode.WEB_PAGE if is_page else DownloadCode.WRONG_HASH, url)


@contextmanager
def _lock(source: Source, folder: Path, stopped: Callable[[], bool]) -> Generator[None]:
    """Keep other processes and threads from the same file; waits until they have left it.

    Raises Stopped, and OSError where nothing can be written.
    """
    path = folder / f"{source.file_name}.lock"
    while True:
        try:
            lock = FileLock(path, create=True)
            break
        except BlockingIOError:
            if stopped():
                raise Stopped from None
            time.sleep(LOOK_S)
        except FileNotFoundError:
            # The one who had it has removed it at this moment, unless the folder has gone.
            if not path.parent.is_dir():
                raise
    try:
        yield
    finally:
        # An open file cannot be removed on Windows, a free one must not be elsewhere.
        with suppress(OSError):
            path.unlink()
        lock.release()
        if os.name == "nt":
            with suppress(OSError):
                path.unlink()
