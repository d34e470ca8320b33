"""What was found out about files once and holds as long as they do not change.

Their digests, and what a denoiser predicts where only running it told.

One small file of the cache for each path, written beside and renamed into place, so that processes
that run at once need no lock and a damaged entry costs one file's digests. An entry says what
state its file was in; in any other state it is not believed.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.api.texts import encode_json
from engine.api.values import PredictionType
from engine.cached_state import recall
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState, TensorIndex
from engine.durable import replace_file

# Entries beyond these are dropped, the oldest first.
MOST_ENTRIES = 2000
# The coarsest clock of a file system (FAT) ticks every two seconds: two writes within one tick
# leave the same time behind, so what was just written may still be changed unseen.
SETTLED_NS = 2_000_000_000
# How long a file that was found right is believed to be: disks rot without changing its times.
CHECKED_NS = 30 * 24 * 3600 * 1_000_000_000
_SUFFIX = ".json"
_MOST_BYTES = 1 << 20


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file's state, and what is known of its content in that state."""

    size: int
    modified_ns: int
    changed: int
    header: str
    # `sampled_digest`; empty where only `content` is known.
    sampled: str
    # Of the whole file, None until it was read whole.
    sha256: str | None = None
    # What the denoiser in it was found to predict, None where nobody had to ask it.
    prediction: PredictionType | None = None
    # What parts are in it, as whoever asked has written it down.
    content: str | None = None
    # When every byte of it was read and found right, in nanoseconds since 1970.
    checked_ns: int | None = None

    def is_of(self, state: FileState) -> bool:
        return (self.size, self.modified_ns, self.changed, self.header) == (
            state.size,
            state.modified_ns,
            state.changed,
            state.header,
        )


_DECODER = msgspec.json.Decoder(_Entry)


class KnownFiles:
    """The entries in a folder, which need not exist. May be used from any thread.

    What cannot be read or written is as if it were not there: everything can be found out again.
    """

    def __init__(self, folder: Path, clock: Callable[[], int] = time.time_ns) -> None:
        """`clock` gives nanoseconds since 1970, as files' times do."""
        self._folder = folder
        self._clock = clock

    def read_index(self, path: Path) -> TensorIndex:
        """As `files.read_index`, but a file that is known is only read at its beginning."""
        recalled: list[_Entry] = []

        def recall(state: FileState) -> str | None:
            entry = self._entry(state)
            if entry is None or not entry.sampled:
                return None
            recalled.append(entry)
            return entry.sampled

        index = read_index(path, recall)
        if recalled:
            return replace(index, probed=recalled[0].prediction)
        if index.state is not None and self.is_settled(index.state):
            entry = self._entry(index.state) or _new(index.state, "")
            entry = msgspec.structs.replace(entry, sampled=index.digest)
            self._write(entry, index.state.path)
        return index

    def sha256(self, state: FileState) -> str | None:
        """The SHA-256 of the whole file that was in this state, None while it is not known."""
        entry = self._entry(state)
        return entry.sha256 if entry else None

    def note_sha256(self, state: FileState, sampled: str, sha256: str) -> None:
        """Remember the SHA-256 of the file that was in this state while it was read whole."""
        entry = self._entry(state) or _new(state, sampled)
        entry = msgspec.structs.replace(entry, sampled=sampled, sha256=sha256)
        self._write(entry, state.path)

    def note_prediction(self, state: FileState, prediction: PredictionType) -> None:
        """Remember what the denoiser of the file in this state predicts, if the file is known."""
        entry = self._entry(state)
        if entry is not None:
            self._write(msgspec.structs.replace(entry, prediction=prediction), state.path)

    def content(self, path: Path) -> str | None:
        """What `note_content` wrote down, if the file is as it was then; it is not opened."""
        entry = self._read(path)
        try:
            now = FileState.of(path, path.stat(), b"")
        except OSError:
            return None
        same = entry and (entry.size, entry.modified_ns, entry.changed) == (
            now.size,
            now.modified_ns,
            now.changed,
        )
        return entry.content if entry and same else None

    def note_content(self, state: FileState, content: str) -> None:
        """Remember what parts are in the file in this state, if its times can be believed."""
        if self.is_settled(state):
            entry = self._entry(state) or _new(state, "")
            self._write(msgspec.structs.replace(entry, content=content), state.path)

    def is_checked(self, state: FileState) -> bool:
        """Whether every byte of the file in this state was found right, this month."""
        entry = self._entry(state)
        if entry is None or entry.checked_ns is None:
            return False
        return 0 <= self._clock() - entry.checked_ns < CHECKED_NS

    def note_check(self, state: FileState) -> None:
        """Remember that every byte of the file in this state was read and found right."""
        entry = self._entry(state) or _new(state, "")
        self._write(msgspec.structs.replace(entry, checked_ns=self._clock()), state.path)

    def move_check(self, before: FileState, after: FileState) -> None:
        """What was found of the file holds in its state `after`, too: only its times changed."""
        entry = self._entry(before)
        if entry is not None and entry.checked_ns is not None:
            moved = _new(after, entry.sampled)
            self._write(msgspec.structs.replace(moved, checked_ns=entry.checked_ns), after.path)

    def is_settled(self, state: FileState) -> bool:
        """Whether a later change would surely show in the file's times."""
        return self._clock() - state.latest_ns > SETTLED_NS

    def _path(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()
        return self._folder / f"{name[:32]}{_SUFFIX}"

    def _entry(self, state: FileState) -> _Entry | None:
        entry = self._read(state.path)
        return entry if entry is not None and entry.is_of(state) else None

    def _read(self, path: Path) -> _Entry | None:
        return recall(self._path(path), _DECODER, _MOST_BYTES)

    def _write(self, entry: _Entry, path: Path) -> None:
        with contextlib.suppress(OSError):
            replace_file(self._path(path), encode_json(entry))
            self._sweep()

    def _sweep(self) -> None:
        """Drop the oldest entries where there are too many, and what was left unfinished."""
        found = [entry for entry in os.scandir(self._folder) if entry.is_file()]
        if len(found) <= MOST_ENTRIES:
            return
        found.sort(key=lambda entry: entry.stat().st_mtime_ns)
        for entry in found[: len(found) - MOST_ENTRIES // 2]:
            Path(entry.path).unlink(missing_ok=True)


def _new(state: FileState, sampled: str) -> _Entry:
    return _Entry(state.size, state.modified_ns, state.changed, state.header, sampled)
