"""Names for files that come where others of the same name are, or are still to come."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

import msgspec

from app.downloads.entries import Download, DownloadState
from app.downloads.file_names import MOST_BYTES
from app.downloads.part import is_there
from app.downloads.source import Source
from engine.file_paths import exists


def with_free_name(
    source: Source, folder: Path, entries: Iterable[Download], stopped: Callable[[], bool]
) -> Source:
    """Return a source under its own name, or one like it if another file has that in the folder.

    The file itself, which is known by its hash, or one of the `entries` that is to become it, does
    not take its name. Reads a file of that name. Raises Stopped.
    """
    to_come = {
        file.file_name.casefold()
        for entry in entries
        if entry.folder == folder and entry.state is not DownloadState.DONE
        for file in entry.files
        if not _are_same(file, source)
    }
    for name in _names(source.file_name):
        named = msgspec.structs.replace(source, file_name=name)
        if name.casefold() in to_come:
            continue
        if not exists(folder / name) or is_there(named, folder, stopped):
            return named
    raise AssertionError("the names have no end")


def _are_same(source: Source, other: Source) -> bool:
    if source.sha256 and other.sha256:
        return source.sha256 == other.sha256
    return (source.url, source.size) == (other.url, other.size)


def _names(name: str) -> Iterator[str]:
    yield name
    path = Path(name)
    for number in count(2):
        end = f"-{number}{path.suffix}"
        stem = path.stem.encode()[: MOST_BYTES - len(end.encode())].decode(errors="ignore")
        yield f"{stem}{end}"
