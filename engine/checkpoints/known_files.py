"""Stored facts about files: digests, prediction types, parts and checks, while unchanged.

Each path has one small file in the cache, written under another name and renamed, so that
concurrent processes need no lock, and a damaged entry only costs one file's digests. An entry
records the state of its file and is ignored in any other state.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.api.texts import encode_json
from engine.api.values import PredictionType
from engine.cached_state import recall
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState, Stamp, TensorIndex
from engine.durable import replace_file

# Entries beyond these are dropped, the oldest first.
MOST_ENTRIES = 2000
# The coarsest clock of a file system (FAT) ticks every two seconds: two writes within one tick get
# the same time, so a file that was just written may still change unnoticed.
SETTLED_NS = 2_000_000_000
# Clocks of servers go before ours by less. A file of later times was written while a clock was
# wrong, or for another time zone: what is written now gets other times.
_AHEAD_NS = 60_000_000_000
# Time for which a checked file counts as sound: disks decay without changing a file's times.
CHECKED_NS = 30 * 24 * 3600 * 1_000_000_000
_SUFFIX = ".json"
_MOST_BYTES = 1 << 20


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file's state, and the known facts about its content in that state."""

    size: int
    modified_ns: int
    changed: int
    header: str
    # `sampled_digest`; empty while it is not known.
    sampled: str
    # SHA-256 of the whole file; None until it was read whole.
    sha256: str | None = None
    # The prediction type found by running the denoiser; None if it was never run for that.
    prediction: PredictionType | None = None
    # The parts of the file, in the caller's own notation.
    content: str | None = None
    # The time when every byte of the file was read and found sound, in ns since 1970.
    checked_ns: int | None = None

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.size, self.modified_ns, self.changed)


_DECODER = msgspec.json.Decoder(_Entry)


def is_settled(stamp: Stamp, now: int) -> bool:
    """True if a later change would certainly show in the file's times; `now` in ns since 1970."""
    return not -_AHEAD_NS <= now - stamp.latest_ns <= SETTLED_NS


class KnownFiles:
    """The entries in a folder, which need not exist. May be used from any thread.

    An entry that cannot be read or written counts as missing: everything can be found out again.
    """

    def __init__(self, folder: Path, clock: Callable[[], int] = time.time_ns) -> None:
        """`clock` gives nanoseconds since 1970, like the times of files."""
        self._folder = folder
        self._clock = clock

    def read_index(self, path: Path) -> TensorIndex:
        """Read a file's index as `files.read_index` does, but only the start of a known file."""
        recalled: list[_Entry] = []

        def recall(state: FileState) -> str | None:
            entry = self._entry(state)
            if entry is None or not entry.sampled:
                return None
            recalled.append(entry)
            return entry.sampled

        index = read_index(path, recall)
        if recalled:
            return msgspec.structs.replace(index, probed=recalled[0].prediction)
        if index.state is not None and self.is_settled(index.state):
            entry = self._entry(index.state) or _new(index.state, "")
            entry = msgspec.structs.replace(entry, sampled=index.digest)
            self._write(entry, index.state.path)
        return index

    def sha256(self, state: FileState) -> str | None:
        """Return the SHA-256 of the whole file in this state; None while it is not known."""
        entry = self._entry(state)
        return entry.sha256 if entry else None

    def note_sha256(self, state: FileState, sha256: str) -> None:
        """Record the SHA-256 of the file that was in this state while it was read whole."""
        entry = self._entry(state) or _new(state, "")
        self._write(msgspec.structs.replace(entry, sha256=sha256), state.path)

    def note_prediction(self, state: FileState, prediction: PredictionType) -> None:
        """Record the prediction type of the denoiser in this file, if the file is known."""
        entry = self._entry(state)
        if entry is not None:
            self._write(msgspec.structs.replace(entry, prediction=prediction), state.path)

    def content(self, path: Path) -> str | None:
        """Return the text of `note_content` if the file is unchanged; the file is not opened."""
        entry = self._read(path)
        try:
            now = Stamp.of(path.stat())
        except OSError:
            return None
        return entry.content if entry and entry.stamp == now else None

    def note_content(self, state: FileState, content: str) -> None:
        """Record the parts of the file in this state, if its times are reliable."""
        if self.is_settled(state):
            entry = self._entry(state) or _new(state, "")
            self._write(msgspec.structs.replace(entry, content=content), state.path)

    def is_checked(self, state: FileState) -> bool:
        """True if every byte of the file in this state was found sound within the last 30 days."""
        entry = self._entry(state)
        if entry is None or entry.checked_ns is None:
            return False
        return 0 <= self._clock() - entry.checked_ns < CHECKED_NS

    def note_check(self, state: FileState) -> None:
        """Record that every byte of the file in this state was read and found sound."""
        entry = self._entry(state) or _new(state, "")
        self._write(msgspec.structs.replace(entry, checked_ns=self._clock()), state.path)

    def move_check(self, before: FileState, after: FileState) -> None:
        """Transfer a check to the file's state `after`: only its times have changed."""
        entry = self._entry(before)
        if entry is not None and entry.checked_ns is not None:
            moved = _new(after, entry.sampled)
            self._write(msgspec.structs.replace(moved, checked_ns=entry.checked_ns), after.path)

    def is_settled(self, state: FileState) -> bool:
        """True if a later change would certainly show in the file's times."""
        return is_settled(state.stamp, self._clock())

    def _path(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()
        return self._folder / f"{name[:32]}{_SUFFIX}"

    def _entry(self, state: FileState) -> _Entry | None:
        entry = self._read(state.path)
        now = state.stamp, state.header
        return entry if entry is not None and (entry.stamp, entry.header) == now else None

    def _read(self, path: Path) -> _Entry | None:
        return recall(self._path(path), _DECODER, _MOST_BYTES)

    def _write(self, entry: _Entry, path: Path) -> None:
        with contextlib.suppress(OSError):
            replace_file(self._path(path), encode_json(entry))
            self._sweep()

    def _sweep(self) -> None:
        """Drop the oldest entries if there are too many, and unfinished ones."""
        found = [entry for entry in os.scandir(self._folder) if entry.is_file()]
        if len(found) <= MOST_ENTRIES:
            return
        found.sort(key=lambda entry: entry.stat().st_mtime_ns)
        for entry in found[: len(found) - MOST_ENTRIES // 2]:
            Path(entry.path).unlink(missing_ok=True)


def _new(state: FileState, sampled: str) -> _Entry:
    stamp = state.stamp
    return _Entry(stamp.size, stamp.modified_ns, stamp.changed, state.header, sampled)
