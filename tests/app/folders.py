"""Folders of a test's own."""

from dataclasses import fields
from pathlib import Path

from app.paths import Paths, find_paths


def folders_in(folder: Path) -> Paths:
    """Return every folder of the application, below this one; no folders of LoRAs."""
    names = [field.name for field in fields(Paths) if field.name != "loras"]
    return find_paths({f"SAFELIGHT_{name.upper()}": str(folder / name) for name in names})
