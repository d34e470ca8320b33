"""Folders of a test's own."""

from dataclasses import fields
from pathlib import Path

from app.paths import Paths


def folders_in(folder: Path) -> Paths:
    """Every folder of the application, below this one."""
    return Paths(**{field.name: folder / field.name for field in fields(Paths)})
