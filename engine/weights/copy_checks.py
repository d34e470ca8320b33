"""Checks of working copies against their checksums, each copy once for each state of its file.

Copies are read on threads of their own while they are used; a job waits for the answer before it
saves a picture. Sound copies are remembered for a month, because a disk may rot without changing a
file's times.
"""

import logging
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

from backends.base import Cancellation
from engine.checkpoints.index import FileState
from engine.checkpoints.known_files import KnownFiles
from engine.errors import Cancelled
from engine.weights.copy_file import is_sound

# Each takes most of a core, or all that the disk gives.
_THREADS = 2
_POLL_S = 0.05
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Check:
    """A file that is being read, in the state in which it was found."""

    state: FileState
    # None where nobody wanted to know any more.
    sound: Future[bool | None]


class CopyChecks:
    """The checks of the copies of a folder; `known` remembers them longer than this process.

    May be used from any thread.
    """

    def __init__(self, known: KnownFiles | None) -> None:
        self._known = known
        self._lock = Lock()
        # As they were written or checked by this process.
        self._sound: dict[Path, FileState] = {}
        self._begun: dict[Path, _Check] = {}
        self._unwanted = Event()
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, path: Path) -> None:
        """Have a copy checked, unless it was in this state, or is being checked."""
        state = _state(path)
        with self._lock:
            begun = self._begun.get(path)
            if state is None or self._is_sound(state) or (begun and begun.state == state):
                return
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, "checks of working copies")
            sound = self._threads.submit(self._check, state, self._unwanted)
            self._begun[path] = _Check(state, sound)

    def note_written(self, path: Path) -> None:
        """Take a copy that this process wrote as sound, until another process starts."""
        state = _state(path)
        with self._lock:
            self._begun.pop(path, None)
            if state is not None:
                self._sound[path] = state

    def before_touch(self, path: Path) -> FileState | None:
        """The state of a copy that was checked, before its times are changed: for `touched`."""
        state = _state(path)
        with self._lock:
            return state if state is not None and self._is_sound(state) else None

    def touched(self, before: FileState | None) -> None:
        """The times of a file were changed, and nothing else."""
        after = _state(before.path) if before else None
        if before is None or after is None:
            return
        with self._lock:
            self._sound[after.path] = after
        if self._known is not None:
            self._known.move_check(before, after)

    def damaged(self, paths: Collection[Path] | None, cancel: Cancellation) -> list[Path]:
        """Wait for checks that have begun, and give the copies that are not as they were written.

        Of all where `paths` is None. Each is given once. Raises Cancelled.
        """
        with self._lock:
            checks = {
                path: check for path, check in self._begun.items() if paths is None or path in paths
            }
        while wait([check.sound for check in checks.values()], _POLL_S).not_done:
            if cancel.is_set():
                raise Cancelled
        with self._lock:
            for path, check in checks.items():
                if self._begun.get(path) is check:
                    del self._begun[path]
        return [path for path, check in checks.items() if check.sound.result() is False]

    def abandon(self) -> None:
        """Nobody wants to know any more."""
        with self._lock:
            self._unwanted.set()
            self._unwanted = Event()
            self._begun.clear()

    def _is_sound(self, state: FileState) -> bool:
        if self._sound.get(state.path) == state:
            return True
        return self._known is not None and self._known.is_checked(state)

    def _check(self, state: FileState, unwanted: Event) -> bool | None:
        sound = is_sound(state.path, unwanted)
        if sound is False:
            _log.warning("the working copy %s is damaged", state.path.name)
        # Not where it was changed while it was read.
        if sound and _state(state.path) == state:
            with self._lock:
                self._sound[state.path] = state
            if self._known is not None:
                self._known.note_check(state)
        return sound


def _state(path: Path) -> FileState | None:
    try:
        return FileState.of(path, path.stat(), b"")
    except OSError:
        return None
