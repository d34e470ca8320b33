"""Lists LoRA files below folders, with the pictures and cards beside them; no file is opened."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.api.lora_names import LORA_SUFFIXES
from engine.checkpoints.index import Stamp
from engine.checkpoints.sidecars import CARD_ENDINGS
from engine.folders import entries_of, has_suffix, walk

# The ends of the names of a picture beside a file, in the order of preference (A1111's
# `find_preview`, ComfyUI-Lora-Manager).
_PREVIEWS = tuple(
    f"{middle}{suffix}"
    for middle in (".preview", "")
    for suffix in (".png", ".jpg", ".jpeg", ".webp")
)
# The names of a picture that stands for the folder it is in.
_COVERS = ("preview", "thumbnail", "cover", "folder")


class ListedFile(msgspec.Struct, frozen=True):
    """A file that the disk lists, in a certain state.

    `name` is its path below the listed folder, without suffix and with `/`. `cards` are the states
    of the cards beside it. `preview` is the path of a picture beside it, empty without one.
    """

    path: str
    name: str
    stamp: Stamp
    cards: tuple[Stamp, ...] = ()
    preview: str = ""
    preview_modified_ns: int = 0


class ListedFolder(msgspec.Struct, frozen=True):
    """A folder that was looked through, and the LoRA files directly in it, by name."""

    path: str
    files: tuple[ListedFile, ...]


def list_below(folders: Iterable[Path]) -> Iterator[ListedFolder]:
    """Yield the folders, each with all folders below it; no folder is entered twice.

    Links are followed. A folder that cannot be read counts as empty, one that is missing is left
    out.
    """
    for folder in walk(folders):
        yield ListedFolder(str(folder.path), files_of(folder.path, folder.root, folder.entries))
        folder.below[:] = (entry for entry in folder.below if not entry.name.startswith("."))


def list_one(path: Path) -> ListedFile | None:
    """Return one file as it would be listed with its folder; None if it is not there."""
    entries = [
        entry
        for entry in entries_of(path.parent)
        if entry.name.lower().startswith(path.stem.lower())
    ]
    files = files_of(path.parent, path.parent, entries, frozenset({path.suffix.lower()}))
    return next((file for file in files if file.path == str(path)), None)


def files_of(
    folder: Path,
    root: Path,
    entries: Sequence[os.DirEntry[str]],
    suffixes: frozenset[str] = LORA_SUFFIXES,
) -> tuple[ListedFile, ...]:
    """Return the files with these suffixes among a folder's entries, named from `root`."""
    by_name = {entry.name.lower(): entry for entry in entries}
    below = folder.relative_to(root).as_posix()
    prefix = "" if below == "." else f"{below}/"
    found: list[ListedFile] = []
    for entry in entries:
        stamp = _stamp(entry) if has_suffix(entry.name, suffixes) else None
        if stamp is None:
            continue
        stem = os.path.splitext(entry.name)[0]  # noqa: PTH122 (a path costs ten times it)
        cards = filter(None, (_stamp_of(by_name, stem + end) for end in CARD_ENDINGS))
        preview, preview_modified_ns = _preview(by_name, stem)
        found.append(
            ListedFile(entry.path, prefix + stem, stamp, tuple(cards), preview, preview_modified_ns)
        )
    return tuple(found)


def _preview(by_name: Mapping[str, os.DirEntry[str]], stem: str) -> tuple[str, int]:
    """Return the path and the time of change of the picture beside a file; empty without one."""
    for end in _PREVIEWS:
        entry = by_name.get((stem + end).lower())
        stamp = _stamp(entry) if entry is not None else None
        if entry is not None and stamp is not None:
            return entry.path, stamp.modified_ns
    return "", 0


def folder_preview(folder: Path, entries: Iterable[os.DirEntry[str]]) -> tuple[str, int]:
    """Return the path and the time of change of a folder's picture, in it or beside it.

    Empty without one. A picture in the folder has the folder's name, or says what it is.
    """
    inside = {entry.name.lower(): entry for entry in entries}
    found = (_preview(inside, stem) for stem in (folder.name, *_COVERS))
    if (first := next(filter(all, found), None)) is not None:
        return first
    for end in _PREVIEWS:
        beside = folder.with_name(folder.name + end)
        try:
            facts = beside.stat()
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode):
            return str(beside), facts.st_mtime_ns
    return "", 0


def _stamp_of(by_name: Mapping[str, os.DirEntry[str]], name: str) -> Stamp | None:
    entry = by_name.get(name.lower())
    return None if entry is None else _stamp(entry)


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    """Return the state of a file; None for a folder, or a file that is gone since it was listed."""
    try:
        if not entry.is_file():
            return None
        return Stamp.of(entry.stat())
    except OSError:
        return None
