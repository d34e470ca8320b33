"""Keeps unreadable files of ours under another name in the same folder."""

import shutil
import time
from pathlib import Path

from engine.durable import put_in_place


def put_aside(path: Path, why: str) -> Path | None:
    """Rename a file to keep it; return its new path, or None if that fails."""
    aside = _aside(path, why)
    try:
        put_in_place(path, aside)
    except OSError:
        return None
    return aside


def copy_aside(path: Path, why: str) -> Path | None:
    """Keep a copy of a file that will be replaced; return its path, or None if that fails."""
    aside = _aside(path, why)
    try:
        shutil.copy2(path, aside)
    except OSError:
        return None
    return aside


def _aside(path: Path, why: str) -> Path:
    """Return a free path: two files kept within a second must not replace one another."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    aside = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    return aside
