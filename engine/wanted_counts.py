"""Counts of how often results were wanted, in a small file of the cache.

A result that is expensive to make may pay only once it is wanted again.
"""

import contextlib
from pathlib import Path
from threading import Lock

import msgspec

from engine.cached_state import recall
from engine.durable import replace_file

# The most keys that are counted; the one wanted longest ago is forgotten first.
_MOST_KEYS = 512
_MOST_BYTES = 1 << 20
_DECODER = msgspec.json.Decoder(dict[str, int])


class WantedCounts:
    """The counts by key in a file, which need not exist. May be used from any thread."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()

    def of(self, key: str) -> int:
        """Return how often a key was counted."""
        with self._lock:
            return self._read().get(key, 0)

    def add(self, key: str) -> int:
        """Count a key, and return how often it was counted before.

        A failure to write is ignored: the key then counts as not wanted.
        """
        with self._lock:
            counts = self._read()
            before = counts.pop(key, 0)
            counts[key] = before + 1
            latest = dict(list(counts.items())[-_MOST_KEYS:])
            with contextlib.suppress(OSError):
                replace_file(self._path, msgspec.json.encode(latest))
        return before

    def _read(self) -> dict[str, int]:
        return recall(self._path, _DECODER, _MOST_BYTES) or {}
