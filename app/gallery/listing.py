"""Folders listed for the index: the pictures in them, their sidecars and subfolders."""

import os
from collections.abc import Callable, Iterable, Iterator

import msgspec

from app.gallery.rows import Root
from app.gallery.writing import Found
from engine.api.saving import PICTURE_SUFFIXES
from engine.file_paths import file_status

SIDECAR_SUFFIX = ".xmp"
# Animations are shown by their first pictures. AVIF is not: its decoder has no room in
# installations.
_SHOWN = (*PICTURE_SUFFIXES, ".gif")


class Listing(msgspec.Struct, frozen=True):
    """The pictures of one folder and the paths of its subfolders, without hidden ones.

    `is_empty` is true for a folder without any entry.
    """

    pictures: tuple[Found, ...]
    subfolders: tuple[str, ...]
    is_empty: bool


def list_folder(folder: str, between: Callable[[], None]) -> Listing:
    """List a folder, and call `between` before each file is looked at. Raises OSError.

    Links to folders are not followed: they may be circles.
    """
    pictures: list[os.DirEntry[str]] = []
    sidecars: dict[str, int] = {}
    subfolders: list[str] = []
    is_empty = True
    with os.scandir(folder) as entries:
        for entry in entries:
            is_empty = False
            name = entry.name.lower()
            if name.startswith("."):
                continue
            if name.endswith(_SHOWN):
                pictures.append(entry)
            elif name.endswith(SIDECAR_SUFFIX):
                sidecars[entry.name] = _modified_ns(entry)
            elif _is_folder(entry):
                subfolders.append(entry.path)
    found = tuple(_all_found(pictures, sidecars, between))
    return Listing(found, tuple(sorted(subfolders)), is_empty)


def sidecar_names(name: str) -> tuple[str, str]:
    """Return the names of a picture's sidecar: darktable's, digiKam's, and Lightroom's."""
    return f"{name}{SIDECAR_SUFFIX}", f"{os.path.splitext(name)[0]}{SIDECAR_SUFFIX}"  # noqa: PTH122 (a name, no path)


def without_nested(roots: Iterable[Root]) -> tuple[Root, ...]:
    """Return the roots that no other one of them looks into, each once."""
    unique = tuple(dict.fromkeys(roots))
    return tuple(
        root
        for root in unique
        if not any(other.path != root.path and other.has(root.path) for other in unique)
    )


def _all_found(
    entries: Iterable[os.DirEntry[str]], sidecars: dict[str, int], between: Callable[[], None]
) -> Iterator[Found]:
    for entry in entries:
        between()
        if (found := _found(entry, sidecars)) is not None:
            yield found


def _found(entry: os.DirEntry[str], sidecars: dict[str, int]) -> Found | None:
    """Return an entry's picture; None if it is no file, or vanished since it was listed."""
    status = file_status(entry)
    if status is None:
        return None
    sidecar_ns = max((sidecars.get(name, 0) for name in sidecar_names(entry.name)), default=0)
    return Found(entry.name, status.st_mtime_ns, status.st_size, sidecar_ns)


def _modified_ns(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
