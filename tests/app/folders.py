"""Folders of a test's own."""

from pathlib import Path

from app.paths import Paths, find_paths


def folders_in(folder: Path) -> Paths:
    """Return every folder of the application, below this one; no folders of LoRAs."""
    names = [name for name in Paths.__struct_fields__ if name != "loras"]
    return find_paths({f"SAFELIGHT_{name.upper()}": str(folder / name) for name in names})
