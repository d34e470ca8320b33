"""Hashes whole files of weights in the background, one after another."""

import logging
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Condition, Thread
from typing import TypeAlias

from engine.checkpoints.full_hash import FullHash
from engine.checkpoints.index import FileState, Stamp
from engine.checkpoints.known_files import SETTLED_NS, KnownFiles
from engine.child_python import python_command

_log = logging.getLogger(__name__)

# Of checkpoints that were looked at: a user who browses does not need the hashes of all.
_MOST_LOOKED_AT = 4
_PATIENCE_S = 0.5
_SETTLED_S = 1.1 * SETTLED_NS / 1e9
_DIGITS = 64

# Called with the file's state, the bytes done, and the SHA-256 once it is known.
Tell: TypeAlias = Callable[[FileState, int, str | None], None]


def _tell_nothing(_done: int) -> None:
    """Ignore the progress; the default of a `Wish`."""


def _give_up_silently() -> None:
    """Ignore a failure; the default of a `Wish`."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A file that is to be hashed in the state of its `stamp`; `keep` takes the hashes.

    `tensors` asks for the hash of the tensors, too. `tell` gets the number of bytes done; `give_up`
    is called if there will be no hash. All are called on another thread. `was_looked_at`: nothing
    waits for the hash, and later ones of the kind take its place.
    """

    path: Path
    stamp: Stamp
    keep: Callable[[FullHash], None] = field(compare=False)
    tensors: bool = False
    tell: Callable[[int], None] = field(default=_tell_nothing, compare=False)
    give_up: Callable[[], None] = field(default=_give_up_silently, compare=False)
    was_looked_at: bool = field(default=False, compare=False)

    @property
    def is_silent(self) -> bool:
        """True if nobody waits for the hash."""
        return self.give_up is _give_up_silently

    @property
    def is_current(self) -> bool:
        """True while the file is in that state."""
        try:
            return Stamp.of(self.path.stat()) == self.stamp
        except OSError:
            return False


class BackgroundHash:
    """Hashes files in another process, the latest request first.

    What somebody waits for comes before the rest, at the priority of this process: at the lowest,
    which the rest has, a busy computer leaves it less than a hundredth of a processor. A file that
    is being hashed at the lowest then begins again later.

    Hashes of checkpoints are kept in `known`. A file that is missing, unreadable or changed since
    the request is given up: the next request tries again. May be used from any thread; `tell` is
    called on a thread of its own.
    """

    def __init__(self, known: KnownFiles, tell: Tell | None = None) -> None:
        self._known = known
        self._tell = tell or _tell_nobody
        self._changed = Condition()
        self._waiting: deque[Wish] = deque()
        # Files that nothing waits for, the next one first, and the number of jobs that run.
        self._leisurely: deque[Wish] = deque()
        self._jobs = 0
        self._busy: Wish | None = None
        # The file at work is one of the leisurely ones; it was interrupted to begin again later.
        self._is_leisurely = self._interrupted = False
        self._process: subprocess.Popen[str] | None = None
        self._thread: Thread | None = None
        self._closed = False

    def want(self, state: FileState) -> None:
        """Queue a checkpoint if its hash is unknown."""
        if self._known.sha256(state) is None:
            keep = partial(self._keep_checkpoint, state)
            self.want_file(
                Wish(
                    state.path,
                    state.stamp,
                    keep,
                    tell=lambda done: self._tell(state, done, None),
                    was_looked_at=True,
                )
            )

    def want_file(self, wish: Wish) -> None:
        """Queue a file, before all that were wanted earlier."""
        with self._changed:
            if self._closed or (wish == self._busy and wish.is_silent):
                return
            alike = [other for other in self._waiting if other == wish]
            told = [other for other in (*alike, wish) if not other.is_silent]
            rest = [other for other in self._waiting if other != wish]
            looked_at = [other for other in rest if other.was_looked_at]
            if wish.was_looked_at and len(looked_at) == _MOST_LOOKED_AT:
                rest.remove(looked_at[0])
            # Whoever is to be told is not forgotten where the file is wanted once more.
            self._waiting = deque((*rest, *(told or [wish])))
            self._interrupt()
            self._start()

    def want_leisurely(self, wishes: Iterable[Wish]) -> None:
        """Hash these files, and no longer those of the last call, while there is nothing else."""
        with self._changed:
            if self._closed:
                return
            self._leisurely = deque(wish for wish in wishes if wish != self._busy)
            self._start()

    @contextmanager
    def holding(self) -> Generator[None]:
        """Hash no files leisurely within the block; one that is begun is begun again later."""
        with self._changed:
            self._jobs += 1
            self._interrupt()
        try:
            yield
        finally:
            with self._changed:
                self._jobs -= 1
                self._changed.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Wait until no file is left to hash; return False after `timeout_s` seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._waiting and not self._leisurely and not self._busy, timeout_s
            )

    def close(self) -> None:
        """Stop at once, and accept no more files."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._leisurely.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify_all()
        if self._thread is not None:
            # A killed process may hang on a disk that does not answer; do not wait for it.
            self._thread.join(_PATIENCE_S)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._work, name="hash", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        while (wish := self._next()) is not None:
            found = self._hash(wish) if self._settles(wish) else None
            if found is not None:
                for each in (wish, *self._alike(wish)):
                    each.keep(found)
                _log.info("the hash of a file of %.1f GB is known", wish.stamp.size / 1e9)
            elif not self._waits_again(wish):
                wish.give_up()

    def _alike(self, wish: Wish) -> list[Wish]:
        """Take the other wishes for the same hash off the queue."""
        with self._changed:
            alike = [other for other in self._waiting if other == wish]
            self._waiting = deque(other for other in self._waiting if other != wish)
            return alike

    def _next(self) -> Wish | None:
        with self._changed:
            self._busy = None
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._waiting or (self._leisurely and not self._jobs) or self._closed
            )
            if self._closed:
                return None
            self._is_leisurely = not self._waiting
            self._busy = self._leisurely.popleft() if self._is_leisurely else self._pop_waiting()
            return self._busy

    def _pop_waiting(self) -> Wish:
        """Take the latest wish that somebody waits for off the queue, or else the latest."""
        waited_for = (wish for wish in reversed(self._waiting) if not wish.is_silent)
        if (wish := next(waited_for, None)) is None:
            return self._waiting.pop()
        # By identity: equal wishes may be told of it, too.
        self._waiting = deque(other for other in self._waiting if other is not wish)
        return wish

    @property
    def _gives_way(self) -> bool:
        """True if the file at work is to wait for a job, or for one that somebody waits for."""
        if self._busy is None or not self._busy.is_silent:
            return False
        is_in_the_way = any(not wish.is_silent for wish in self._waiting)
        return is_in_the_way or (self._is_leisurely and self._jobs > 0)

    def _interrupt(self) -> None:
        """Stop the process if its file gives way."""
        if self._process is not None and self._gives_way:
            self._interrupted = True
            self._process.kill()

    def _settles(self, wish: Wish) -> bool:
        """Wait until the file's times are reliable; return True if it still has to be hashed."""
        state = FileState(wish.path, wish.stamp, "")
        with self._changed:
            if not self._known.is_settled(state):
                self._changed.wait_for(lambda: self._closed, _SETTLED_S)
        return not self._closed and self._known.is_settled(state) and wish.is_current

    def _hash(self, wish: Wish) -> FullHash | None:
        """Return the file's hashes; None if they cannot be computed or the file has changed."""
        flags = ["--tensors"] if wish.tensors else []
        if not wish.is_silent:
            flags.append("--waited-for")
        module = "engine.checkpoints.full_hash"
        command = python_command("-m", module, *flags, str(wish.path))
        last: list[str] = []
        try:
            with self._started(command) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    last = line.split()
                    if len(last) == 1 and len(last[0]) < _DIGITS:
                        wish.tell(int(last[0]))
        except OSError as error:
            _log.warning("a file cannot be hashed: %s", error.strerror)
            return None
        finally:
            with self._changed:
                self._process = None
        whole = process.returncode == 0 and all(len(digest) == _DIGITS for digest in last)
        if not whole and not self._put_back(wish) and not self._closed:
            _log.warning("a file cannot be read to its end for its hash")
        return FullHash(*last) if whole and last and wish.is_current else None

    def _waits_again(self, wish: Wish) -> bool:
        with self._changed:
            return wish in self._leisurely

    def _put_back(self, wish: Wish) -> bool:
        """Queue a file again that was interrupted; return False for any other."""
        with self._changed:
            if self._closed or not self._interrupted:
                return False
            (self._leisurely if self._is_leisurely else self._waiting).appendleft(wish)
            return True

    def _started(self, command: tuple[str, ...]) -> "subprocess.Popen[str]":
        """Start the process, which `close` and `holding` can kill. Raises OSError."""
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
            self._interrupted = self._gives_way
            if self._closed or self._interrupted:
                process.kill()
            return process

    def _keep_checkpoint(self, state: FileState, found: FullHash) -> None:
        self._known.note_sha256(state, found.whole)
        self._tell(state, state.size, found.whole)


def _tell_nobody(_state: FileState, _done: int, _sha256: str | None) -> None:
    """Ignore progress and result; the default `Tell`."""
