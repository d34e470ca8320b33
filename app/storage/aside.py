"""Files of ours that cannot be read: kept under another name beside the place they were in."""

import shutil
import time
from pathlib import Path


def put_aside(path: Path, why: str) -> Path | None:
    """Keep the file under another name; that name, None where it cannot be done."""
    aside = _aside(path, why)
    try:
        path.replace(aside)
    except OSError:
        return None
    return aside


def copy_aside(path: Path, why: str) -> Path | None:
    """Keep a copy, for whoever wants to look into it; the file stays until it is replaced."""
    aside = _aside(path, why)
    try:
        shutil.copy2(path, aside)
    except OSError:
        return None
    return aside


def _aside(path: Path, why: str) -> Path:
    """Return a free name: a second file within a second must not replace the first."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    aside = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    return aside
