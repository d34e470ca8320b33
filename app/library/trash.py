"""The system's trash, for pictures that are no longer wanted."""

import sys
from contextlib import suppress
from pathlib import Path

import msgspec
from PySide6.QtCore import QFile, QStandardPaths


class Trashed(msgspec.Struct, frozen=True):
    """The result of moving a file; `trash_path` is empty where the system does not tell it.

    `beside` are files that went with it, which mean nothing without it.
    """

    path: str
    moved: bool
    trash_path: str = ""
    beside: "tuple[Trashed, ...]" = ()


def move_to_trash(path: str) -> Trashed:
    """Move a file to the trash. Touches the disk: not for the GUI thread."""
    if sys.platform.startswith("linux"):
        # Qt makes the trash itself, but not the folder it lies in.
        data = QStandardPaths.StandardLocation.GenericDataLocation
        with suppress(OSError):
            Path(QStandardPaths.writableLocation(data)).mkdir(parents=True, exist_ok=True)
    file = QFile(path)
    if not file.moveToTrash():
        return Trashed(path, moved=False)
    moved_to = file.fileName()
    return Trashed(path, moved=True, trash_path=moved_to if moved_to != path else "")


def restore(trash_path: str, path: str) -> bool:
    """Move a file back from the trash; return False if that fails or its name is taken."""
    if not QFile.rename(trash_path, path):
        return False
    file = Path(trash_path)
    if file.parent.name == "files":
        # Else a file manager lists a file in the trash that is there no more.
        with suppress(OSError):
            (file.parents[1] / "info" / f"{file.name}.trashinfo").unlink(missing_ok=True)
    return True
