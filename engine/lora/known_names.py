"""The names and hashes that LoRA files and the cards beside them state, kept while unchanged.

Only the metadata at the start of each file is read, and its cards. All that is known is one small
file in the cache, so that a folder of 2,000 files is opened only once.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from engine.api.texts import encode_json
from engine.cached_state import recall
from engine.checkpoints.header import LENGTH_BYTES
from engine.checkpoints.index import FileState, TensorIndex
from engine.checkpoints.known_files import SETTLED_NS
from engine.checkpoints.safetensors import MAX_HEADER_BYTES
from engine.checkpoints.sidecars import cards_of
from engine.durable import replace_file
from engine.regular_file import open_regular

_log = logging.getLogger(__name__)

# Raised when names are found in another way, so that all files are read again.
_VERSION = 2
_MOST_BYTES = 64 << 20
_MOST_CHARACTERS = 200
# The ends of the names of cards that may have hashes.
_CARDS = (".civitai.info", ".swarm.json", ".cm-info.json", ".metadata.json")
# kohya's older hash of a file; the newer one is on the metadata's card.
_LEGACY = "sshs_legacy_hash"
_LEGACY_HASH = re.compile(r"[0-9a-f]{8}")


class FileNames(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name that a file's metadata give it, and its hashes as stated, in lower case.

    `whole` are SHA-256 of the file, `tensors` first digits of those of its tensors, `legacy` is
    kohya's older hash of 8 digits.
    """

    alias: str = ""
    whole: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    legacy: tuple[str, ...] = ()

    def has(self, digits: str) -> bool | None:
        """Return True if a hash in lower case is this file's, False if not, None if unknown.

        Tools write different numbers of digits: 10 of the file, 12 of the tensors, 8 of the older.
        """
        hashes = (*self.whole, *self.tensors, *self.legacy)
        if any(own.startswith(digits) or digits.startswith(own) for own in hashes):
            return True
        both = self.whole if self.tensors else ()
        alike = {10: self.whole, 12: self.tensors, 8: self.legacy}.get(len(digits), both)
        return False if alike else None


NO_NAMES = FileNames()


class _State(msgspec.Struct, frozen=True, array_like=True):
    """The state of a file and of the cards beside it; while it is the same, so are the names."""

    size: int
    modified_ns: int
    changed: int
    # When each card was last modified, 0 without one.
    cards: tuple[int, ...]


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """The names of a file in this state."""

    state: _State
    names: FileNames


class _Store(msgspec.Struct, frozen=True):
    version: int
    entries: dict[str, _Entry]


_DECODER = msgspec.json.Decoder(_Store)


class _Start(msgspec.Struct, frozen=True):
    """A safetensors header without its tensors."""

    metadata: dict[str, str] = msgspec.field(name="__metadata__", default_factory=dict[str, str])


_START = msgspec.json.Decoder(_Start)


def read_names(path: Path) -> FileNames:
    """Return the names in a file's metadata and cards; none if there are none to be read."""
    metadata = _metadata(path)
    alias = metadata.get("ss_output_name", "")[:_MOST_CHARACTERS]
    legacy = metadata.get(_LEGACY, "").casefold()
    # A card needs no tensors.
    cards = cards_of(TensorIndex(path, {}, metadata, digest=""))
    return FileNames(
        alias,
        whole=tuple(sorted({one for card in cards for one in card.hashes})),
        tensors=tuple(sorted({one for card in cards for one in card.tensors_hashes})),
        legacy=(legacy,) if _LEGACY_HASH.fullmatch(legacy) else (),
    )


def _metadata(path: Path) -> dict[str, str]:
    try:
        with open_regular(path) as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if 2 <= length <= MAX_HEADER_BYTES:
                return _START.decode(file.read(length)).metadata
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return {}


class KnownNames:
    """The names of files, in a file of the cache; without one they are only kept in memory."""

    def __init__(
        self,
        cache: Path | None = None,
        read: Callable[[Path], FileNames] = read_names,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """`clock` gives nanoseconds since 1970, like the times of files."""
        self._cache, self._read, self._clock = cache, read, clock
        self._entries: dict[str, _Entry] | None = None
        self._listed: dict[str, Path] = {}

    def prepare(self, paths: Iterable[Path]) -> None:
        """Take note of all files: once the names of one are asked for that is not known, all are.

        So the cache is written once.
        """
        self._listed = {str(path): path for path in paths}

    def names(self, path: Path) -> FileNames:
        """Return the names of a file; no names if it is gone."""
        entry = self._known(path)
        if entry is not None:
            return entry.names
        read = {key: one for key, one in self._listed.items() if self._known(one) is None}
        read[str(path)] = path
        fresh = {key: found for key, one in read.items() if (found := self._entry(one)) is not None}
        self._keep(fresh)
        found = fresh.get(str(path))
        return found.names if found is not None else NO_NAMES

    def _known(self, path: Path) -> _Entry | None:
        if self._entries is None:
            store = recall(self._cache, _DECODER, _MOST_BYTES) if self._cache else None
            is_current = store is not None and store.version == _VERSION
            self._entries = store.entries if store is not None and is_current else {}
        entry = self._entries.get(str(path))
        return entry if entry is not None and entry.state == _state(path) else None

    def _entry(self, path: Path) -> _Entry | None:
        state = _state(path)
        return None if state is None else _Entry(state, self._read(path))

    def _keep(self, fresh: dict[str, _Entry]) -> None:
        """Remember entries; those of files that were just written are not kept on disk."""
        assert self._entries is not None, "what is known is read before anything else"
        self._entries = {**self._entries, **fresh}
        if self._cache is None:
            return
        now = self._clock()
        settled = {
            path: entry
            for path, entry in self._entries.items()
            if now - max(entry.state.modified_ns, *entry.state.cards) > SETTLED_NS
        }
        try:
            replace_file(self._cache, encode_json(_Store(_VERSION, settled)))
        except OSError as error:
            _log.info("names of LoRA files cannot be kept: %s", error)


def _state(path: Path) -> _State | None:
    try:
        now = FileState.of(path, path.stat(), b"")
    except (OSError, ValueError):
        return None
    cards = tuple(_modified_ns(path.with_suffix(suffix)) for suffix in _CARDS)
    return _State(now.size, now.modified_ns, now.changed, cards)


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
