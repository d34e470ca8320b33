"""Folders of a test's own."""

from dataclasses import fields
from pathlib import Path

from app.paths import Paths


def folders_in(folder: Path) -> Paths:
    """Every folder of the application, below this one."""
    names = [field.name for field in fields(Paths) if field.name != "loras"]
    return Paths(**{name: folder / name for name in names})
