"""Checks of working copies against their checksums, each copy once for each state of its file.

Copies are checked on background threads while they are in use; a job waits for the result before
it saves a picture. A sound copy is remembered for a month only, because a failing disk may damage
a file without changing its times.
"""

import logging
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event, Lock

import msgspec

from backends.base import Cancellation
from engine.checkpoints.index import FileState
from engine.checkpoints.known_files import KnownFiles
from engine.errors import Cancelled
from engine.weights.copy_file import is_sound

# Each thread takes most of a core, or the whole bandwidth of the disk.
_THREADS = 2
_POLL_S = 0.05
_log = logging.getLogger(__name__)


class _Check(msgspec.Struct, frozen=True):
    """A check in progress, and the state of the file when it began."""

    state: FileState
    # True if the copy is sound; None if the check was abandoned.
    sound: Future[bool | None]


class CopyChecks:
    """The checks of a folder's working copies; `known` keeps their results beyond this process.

    May be used from any thread.
    """

    def __init__(self, known: KnownFiles | None) -> None:
        self._known = known
        self._lock = Lock()
        # Copies that this process wrote or found sound, and the states of their files then.
        self._sound: dict[Path, FileState] = {}
        self._begun: dict[Path, _Check] = {}
        self._unwanted = Event()
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, path: Path) -> None:
        """Start to check a copy, unless its file is known as sound or is being checked."""
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
        """Record a copy that this process wrote as sound, for this process only."""
        state = _state(path)
        with self._lock:
            self._begun.pop(path, None)
            if state is not None:
                self._sound[path] = state

    def before_touch(self, path: Path) -> FileState | None:
        """Return the state of a sound copy before its times are changed, for `touched`; or None."""
        state = _state(path)
        with self._lock:
            return state if state is not None and self._is_sound(state) else None

    def touched(self, before: FileState | None) -> None:
        """Record that a sound file differs from its state `before` only in its times."""
        after = _state(before.path) if before else None
        if before is None or after is None:
            return
        with self._lock:
            self._sound[after.path] = after
        if self._known is not None:
            self._known.move_check(before, after)

    def damaged(self, paths: Collection[Path] | None, cancel: Cancellation) -> list[Path]:
        """Wait for the checks of `paths` (None: all), and return the damaged copies.

        Each damaged copy is returned once. Raises Cancelled.
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
        """Stop all checks and forget their results."""
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
        # The result does not count if the file changed while it was read.
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
