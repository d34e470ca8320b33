"""The facts about files of weights in listings, kept while the files and their cards are unchanged.

They are one file in the cache, so that a folder of 2,000 files is opened only once.
"""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from threading import Lock

import msgspec

from engine.api.lora_files import LoraInfo
from engine.api.model_files import ModelInfo
from engine.api.texts import encode_json
from engine.cached_state import recall
from engine.checkpoints.index import Stamp
from engine.checkpoints.known_files import is_settled
from engine.durable import replace_file
from engine.folders import has_suffix
from engine.lora.file_names import FileNames
from engine.lora.files_below import ListedFile
from engine.lora.hashes import LoraHashes

# Raised when facts are found in another way, so that all files are read again.
_VERSION = 3
_MOST_BYTES = 64 << 20

_log = logging.getLogger(__name__)


class KnownFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts about a file; None: not found out yet."""

    names: FileNames | None = None
    # The file in the list of LoRAs, and the digest of the code that described it.
    info: LoraInfo | None = None
    info_rules: str = ""
    # The file in the list of all models, and the digest of the code that recognised it.
    model: ModelInfo | None = None
    rules: str = ""
    # Computed, not stated.
    hashes: LoraHashes | None = None


NO_FACTS = KnownFacts()


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """The facts about a file while it and the cards beside it are in this state.

    Hashes are facts about the file alone.
    """

    stamp: Stamp
    cards: tuple[Stamp, ...]
    facts: KnownFacts


class _Store(msgspec.Struct, frozen=True):
    """The content of the cache's file: entries by path."""

    version: int
    entries: dict[str, _Entry]


_DECODER = msgspec.json.Decoder(_Store)


class ListedFacts:
    """The facts about LoRAs and other files of weights, in a file of the cache, else in memory.

    May be used from any thread, and by several processes: one may lose the facts that another wrote
    at the same moment, which are then found out again.
    """

    def __init__(self, cache: Path | None = None, clock: Callable[[], int] = time.time_ns) -> None:
        """`clock` gives nanoseconds since 1970, like the times of files."""
        self._cache, self._clock, self._lock = cache, clock, Lock()
        self._entries: dict[str, _Entry] = {}
        # The paths whose entries are not in the cache's file yet, and the file's stamp when read.
        self._unsaved: set[str] = set()
        self._read: Stamp | None = None
        self._is_loaded = False

    def refresh(self) -> None:
        """Read what another process may have written."""
        with self._lock:
            self._load()

    def of(self, listed: ListedFile) -> KnownFacts:
        """Return the facts about a file in its present state."""
        with self._lock:
            return self._facts(listed)

    def note(
        self,
        listed: ListedFile,
        *,
        names: FileNames | None = None,
        info: LoraInfo | None = None,
        info_rules: str | None = None,
        model: ModelInfo | None = None,
        rules: str | None = None,
        hashes: LoraHashes | None = None,
    ) -> None:
        """Add facts about a file in this state, unless it was just written, and may change yet."""
        now = self._clock()
        if not all(is_settled(stamp, now) for stamp in (listed.stamp, *listed.cards)):
            return
        found = {
            "names": names,
            "info": info,
            "info_rules": info_rules,
            "model": model,
            "rules": rules,
            "hashes": hashes,
        }
        changes = {name: fact for name, fact in found.items() if fact is not None}
        with self._lock:
            facts = msgspec.structs.replace(self._facts(listed), **changes)
            self._entries[listed.path] = _Entry(listed.stamp, listed.cards, facts)
            self._unsaved.add(listed.path)

    def forget(
        self,
        folders: Iterable[str],
        present: Collection[str],
        suffixes: Collection[str] | None = None,
    ) -> None:
        """Drop the files below these folders that are not present, of those with some suffixes."""
        below = tuple(f"{folder}{os.sep}" for folder in folders)
        with self._lock:
            gone = [
                path
                for path in self._entries
                if path.startswith(below)
                and path not in present
                and (suffixes is None or has_suffix(path, suffixes))
            ]
            for path in gone:
                del self._entries[path]
            self._unsaved.update(gone)

    def save(self) -> None:
        """Write what is new into the cache's file."""
        with self._lock:
            if self._cache is None or not self._unsaved:
                return
            self._load()
            try:
                replace_file(self._cache, encode_json(_Store(_VERSION, self._entries)))
            except OSError as error:
                _log.info("facts about files of weights cannot be kept: %s", error)
                return
            self._unsaved.clear()
            self._read = _stamp(self._cache)

    def _facts(self, listed: ListedFile) -> KnownFacts:
        if not self._is_loaded:
            self._load()
        entry = self._entries.get(listed.path)
        if entry is None or entry.stamp != listed.stamp:
            return NO_FACTS
        return entry.facts if entry.cards == listed.cards else KnownFacts(hashes=entry.facts.hashes)

    def _load(self) -> None:
        """Take the entries of the cache's file, if it is another than before, but the unsaved."""
        self._is_loaded = True
        stamp = _stamp(self._cache) if self._cache else None
        if self._cache is None or stamp == self._read:
            return
        store = recall(self._cache, _DECODER, _MOST_BYTES)
        entries = store.entries if store is not None and store.version == _VERSION else {}
        own = {path: self._entries.get(path) for path in self._unsaved}
        self._entries = {path: entry for path, entry in entries.items() if path not in own}
        self._entries |= {path: entry for path, entry in own.items() if entry is not None}
        self._read = stamp


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path.stat())
    except OSError:
        return None
