"""The list of the user's LoRA files, whose facts are kept in the cache while a file is unchanged.

A warm listing opens no LoRA: it asks the disk for each folder and for the state of each file, and
reads all facts from one file of the cache.
"""

import logging
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from engine.api.lora_files import LoraInfo
from engine.api.texts import encode_json
from engine.cached_state import recall
from engine.checkpoints.known_files import SETTLED_NS
from engine.durable import replace_file
from engine.lora.files_below import ListedLora, Stamp, list_below, list_one

# A message holds at most this many descriptions, and stays far below the limit of a frame.
CHUNK = 50
# Files beyond these are not listed.
MOST_FILES = 50_000
# Facts are written after so many files were opened.
KEPT_TOGETHER = 200
# Raised when facts are found in another way, so that all files are read again.
_VERSION = 1
_MOST_BYTES = 64 << 20

# Opens a file and returns the facts in it.
Describe = Callable[[ListedLora], LoraInfo]
# Some descriptions, or None where other work may run in between.
Part = tuple[LoraInfo, ...] | None

_log = logging.getLogger(__name__)


class _Entry(msgspec.Struct, frozen=True):
    """The facts about a file while it and the cards beside it are in this state."""

    stamp: Stamp
    cards: tuple[Stamp, ...]
    info: LoraInfo

    def is_of(self, listed: ListedLora) -> bool:
        return (self.stamp, self.cards) == (listed.stamp, listed.cards)


class _Known(msgspec.Struct, frozen=True):
    """The content of the cache's file: entries by path."""

    version: int
    entries: dict[str, _Entry]


_DECODER = msgspec.json.Decoder(_Known)


class LoraIndex:
    """Lists LoRA files with the facts about them. For one thread."""

    def __init__(
        self, cache: Path, describe: Describe, clock: Callable[[], int] = time.time_ns
    ) -> None:
        """`cache` is the file that facts are kept in; `clock` gives nanoseconds since 1970."""
        self._cache, self._describe, self._clock = cache, describe, clock

    def list(self, folders: Iterable[Path]) -> Generator[Part, None, tuple[str, ...]]:
        """Yield all files below the folders, those whose facts are unknown as not read.

        Then each of these is opened, and yielded once more. The generator's return value is the
        folders that were looked through.
        """
        known = self._known()
        fresh: dict[str, _Entry] = {}
        unread: list[ListedLora] = []
        looked_through: list[str] = []
        count = 0
        for folder in list_below(folders):
            looked_through.append(folder.path)
            infos: list[LoraInfo] = []
            for listed in folder.files[: MOST_FILES - count]:
                entry = known.get(listed.path)
                if entry is not None and entry.is_of(listed):
                    fresh[listed.path] = entry
                    infos.append(_placed(entry.info, listed))
                else:
                    unread.append(listed)
                    infos.append(_bare(listed))
            count += len(infos)
            yield from _parts(infos)
            yield None
        # A first listing may take minutes, and end with the program.
        for start in range(0, max(1, len(unread)), KEPT_TOGETHER):
            yield from self._read(unread[start : start + KEPT_TOGETHER], fresh)
            self._keep(fresh, known, looked_through)
        return tuple(looked_through)

    def look(self, path: Path) -> LoraInfo | None:
        """Return a file's description, wherever the file lies; None if there is no such file."""
        listed = list_one(path)
        return None if listed is None else self._described(listed)

    def _read(self, unread: Iterable[ListedLora], fresh: dict[str, _Entry]) -> Iterator[Part]:
        """Open files, add their entries to `fresh`, and yield their descriptions."""
        ready: list[LoraInfo] = []
        for listed in unread:
            info = self._described(listed)
            fresh[info.path] = _Entry(listed.stamp, listed.cards, info)
            ready.append(info)
            if len(ready) == CHUNK:
                yield tuple(ready)
                ready = []
            yield None
        yield from _parts(ready)

    def _described(self, listed: ListedLora) -> LoraInfo:
        return _placed(self._describe(listed), listed)

    def _known(self) -> Mapping[str, _Entry]:
        known = recall(self._cache, _DECODER, _MOST_BYTES)
        return known.entries if known is not None and known.version == _VERSION else {}

    def _keep(
        self, fresh: Mapping[str, _Entry], before: Mapping[str, _Entry], folders: Iterable[str]
    ) -> None:
        """Write the facts of settled files, and those of files outside of the listed folders."""
        now = self._clock()
        listed = tuple(f"{folder}{os.sep}" for folder in folders)
        entries = {path: one for path, one in before.items() if not path.startswith(listed)}
        entries |= {path: one for path, one in fresh.items() if _is_settled(one.stamp, now)}
        if entries == before:
            return
        try:
            replace_file(self._cache, encode_json(_Known(_VERSION, entries)))
        except OSError as error:
            _log.info("facts about LoRA files cannot be kept: %s", error)


def _is_settled(stamp: Stamp, now: int) -> bool:
    """Return True if a later change of the file would certainly show in its times."""
    return now - stamp.modified_ns > SETTLED_NS


def _placed(info: LoraInfo, listed: ListedLora) -> LoraInfo:
    """Return a description with the name and the preview that the file has at present."""
    changes = {
        "name": listed.name,
        "preview": listed.preview,
        "preview_modified_ns": listed.preview_modified_ns,
    }
    if all(getattr(info, name) == value for name, value in changes.items()):
        return info
    return msgspec.structs.replace(info, **changes)


def _bare(listed: ListedLora) -> LoraInfo:
    """Return the description of a file that has not been opened."""
    return _placed(
        LoraInfo(
            path=listed.path,
            name=listed.name,
            size=listed.stamp.size,
            modified_ns=listed.stamp.modified_ns,
            is_read=False,
        ),
        listed,
    )


def _parts(infos: list[LoraInfo]) -> Iterator[tuple[LoraInfo, ...]]:
    for start in range(0, len(infos), CHUNK):
        yield tuple(infos[start : start + CHUNK])
