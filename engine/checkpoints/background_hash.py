"""Hashes whole checkpoints in the background, one after another."""

import logging
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from typing import TypeAlias

from engine.checkpoints.index import FileState
from engine.checkpoints.known_files import SETTLED_NS, KnownFiles

_log = logging.getLogger(__name__)

# Older requests are dropped: a user who browses checkpoints does not need them all.
_MOST_WAITING = 4
_PATIENCE_S = 0.5
_SETTLED_S = 1.1 * SETTLED_NS / 1e9

# Called with the file's state, the bytes done, and the SHA-256 once it is known.
Tell: TypeAlias = Callable[[FileState, int, str | None], None]


class BackgroundHash:
    """Hashes files in a process of the lowest priority, the latest request first.

    Hashes are kept in `known`. A file that is missing, unreadable or changed since the request is
    dropped without an error: the next request tries again. May be used from any thread; `tell` is
    called on a thread of its own.
    """

    def __init__(self, known: KnownFiles, tell: Tell | None = None) -> None:
        self._known = known
        self._tell = tell or _tell_nobody
        self._changed = Condition()
        self._waiting: deque[tuple[FileState, str]] = deque(maxlen=_MOST_WAITING)
        self._busy: FileState | None = None
        self._process: subprocess.Popen[str] | None = None
        self._thread: Thread | None = None
        self._closed = False

    def want(self, state: FileState, digest: str) -> None:
        """Queue a file for hashing if its hash is unknown; `digest` is its sampled digest."""
        if self._known.sha256(state) is not None:
            return
        with self._changed:
            wish = (state, digest)
            if self._closed or state == self._busy:
                return
            with suppress(ValueError):
                self._waiting.remove(wish)
            self._waiting.append(wish)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="hash", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Wait until no file is left to hash; return False after `timeout_s` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout_s)

    def close(self) -> None:
        """Stop at once, and accept no more files."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify_all()
        if self._thread is not None:
            # A killed process may hang on a disk that does not answer; do not wait for it.
            self._thread.join(_PATIENCE_S)

    def _work(self) -> None:
        while (wish := self._next()) is not None:
            state, sampled = wish
            found = self._hash(state) if self._settles(state) else None
            if found is not None:
                self._known.note_sha256(state, sampled, found)
                self._tell(state, state.size, found)
                _log.info("the hash of a checkpoint of %.1f GB is known", state.size / 1e9)

    def _next(self) -> tuple[FileState, str] | None:
        with self._changed:
            self._busy = None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            wish = self._waiting.pop()
            self._busy = wish[0]
            return wish

    def _settles(self, state: FileState) -> bool:
        """Wait until the file's times are reliable; return True if it still has to be hashed."""
        with self._changed:
            if not self._known.is_settled(state):
                self._changed.wait_for(lambda: self._closed, _SETTLED_S)
        return not self._closed and self._known.is_settled(state) and _is_still(state)

    def _hash(self, state: FileState) -> str | None:
        """Return the file's SHA-256; None if it cannot be computed or the file has changed."""
        command = [sys.executable, "-I", "-m", "engine.checkpoints.full_hash", str(state.path)]
        last = ""
        try:
            with self._started(command) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    last = line.strip()
                    if last.isdecimal() and len(last) < 64:
                        self._tell(state, int(last), None)
        except OSError as error:
            _log.warning("a checkpoint cannot be hashed: %s", error.strerror)
            return None
        finally:
            with self._changed:
                self._process = None
        whole = process.returncode == 0 and len(last) == 64
        if not whole and not self._closed:
            _log.warning("a checkpoint cannot be read to its end for its hash")
        return last if whole and _is_still(state) else None

    def _started(self, command: list[str]) -> "subprocess.Popen[str]":
        """Start the process, which `close` can kill. Raises OSError."""
        with self._changed:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                creationflags=subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0,
            )
            self._process = process
            if self._closed:
                process.kill()
            return process


def _is_still(state: FileState) -> bool:
    try:
        return state.is_of(state.path.stat())
    except OSError:
        return False


def _tell_nobody(_state: FileState, _done: int, _sha256: str | None) -> None:
    """Ignore progress and result; the default `Tell`."""
