"""The files of an installed Safelight: which of them are missing, or not as they were built.

Standard library only: it explains why other modules cannot be imported.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from app.code_folder import code_folder
from engine.refused_files import HINT, MESSAGE, is_refused

# At the root of an installed tree: the size and the SHA-256 of every other file.
FILE_LIST = "files.json"
_MAX_NAMED = 5


class FileFault(msgspec.Struct, frozen=True):
    """A file that is not as it was built; its path is relative to the tree, with slashes."""

    path: str
    missing: bool


def installed_root() -> Path | None:
    """Return the folder of the installed tree that this code is in; None in a checkout."""
    root = Path(code_folder()).parent
    return root if (root / FILE_LIST).is_file() else None


def faults(root: Path, *, read: bool = True) -> Iterator[FileFault]:
    """Yield the files of a tree that are missing or changed; a list that is damaged is one.

    Unless the files are to be read, which takes seconds, their sizes are compared alone.
    """
    try:
        wanted = _read_list(root / FILE_LIST)
    except (OSError, ValueError):
        yield FileFault(FILE_LIST, missing=False)
        return
    for name, (size, sha256) in wanted.items():
        path = root / name
        try:
            same = path.stat().st_size == size and not (read and _sha256(path) != sha256)
        except OSError:
            yield FileFault(name, missing=True)
            continue
        if not same:
            yield FileFault(name, missing=False)


def explain(error: ImportError) -> tuple[str, str]:
    """Return message and hint for a module that cannot be imported."""
    if is_refused(error):
        return MESSAGE, f"{HINT} The file: {error}"
    root = installed_root()
    found = (tuple(faults(root, read=False)) or tuple(faults(root))) if root else ()
    if found:
        return f"{describe(found)}.", repair_hint()
    return f"A part of Safelight cannot be loaded: {error}.", "Install Safelight again."


def describe(found: Iterable[FileFault]) -> str:
    """Return faults in words: "2 files of Safelight are missing: site/a.dll, lib/b.py"."""
    found = tuple(found)
    parts = (
        _count_and_names([fault.path for fault in found if fault.missing], "missing"),
        _count_and_names([fault.path for fault in found if not fault.missing], "changed"),
    )
    return "; ".join(part for part in parts if part)


def repair_hint() -> str:
    """Return what to do about such files."""
    antivirus = ""
    if sys.platform == "win32":
        antivirus = "An antivirus program may be the cause. "
    return f"{antivirus}Install Safelight again; your pictures, models and settings stay."


def _count_and_names(names: list[str], state: str) -> str:
    if not names:
        return ""
    count = "1 file of Safelight is" if len(names) == 1 else f"{len(names)} files of Safelight are"
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{count} {state}: {', '.join(names[:_MAX_NAMED])}{more}"


def _read_list(path: Path) -> dict[str, tuple[int, str]]:
    """Return size and SHA-256 by path; raises OSError, or ValueError for damage."""
    content = json.loads(path.read_text(encoding="utf-8"))
    try:
        files = cast("Mapping[str, tuple[int, str]]", content["files"])
        return {name: (int(size), str(sha256)) for name, (size, sha256) in files.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
