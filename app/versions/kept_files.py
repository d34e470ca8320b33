"""Copies of Safelight's small files as a version left them, for a person who goes back to it.

A newer version may write files that an older one cannot read. So the newer one, at its first start,
copies what it finds; the older one reads its copy where it cannot read the file.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from engine.durable import rename_folder

# Lists of jobs and of downloads are left out: what was waiting then may have been done since.
_NAMES = (
    *("session.json", "checkpoints.json", "loras.json", "updates.json", "settings.toml"),
    *("model-settings.json", "model-notes.json", "presets.json", "prompts.json"),
    *("gallery_folders.json", "gallery_view.json", "packs.json", "site-keys.json"),
)


def keep_files(place: Path, version: str) -> None:
    """Copy the files in a folder as that version left them, unless they are copied."""
    folder = _folder(place, version)
    if folder.exists():
        return
    staging = folder.with_name(f"{folder.name}.{token_hex(4)}.part")
    with suppress(OSError):  # without a copy, the older version begins anew
        staging.mkdir(mode=0o700, parents=True)
        for name in _NAMES:
            with suppress(FileNotFoundError):
                shutil.copy2(place / name, staging / name)
        rename_folder(staging, folder)
    shutil.rmtree(staging, ignore_errors=True)


def forget_files(place: Path, version: str) -> None:
    """Remove the copies of a version that runs again, and writes the files itself."""
    shutil.rmtree(_folder(place, version), ignore_errors=True)


def kept_file(path: Path, version: str) -> Path:
    """Return the place of a file's copy as that version left it; it need not exist."""
    return _folder(path.parent, version) / path.name


def _folder(place: Path, version: str) -> Path:
    return place / f"left-by-{version}"
