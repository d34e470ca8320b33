"""The room on the disk of a folder, measured on another thread."""

import shutil
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.field import Field
from app.paths import nearest_folder


class DiskRoom(QObject):
    """The free bytes on the disk of a folder; None while unknown."""

    free_bytes_changed = Signal(object)

    free_bytes = Field[int | None](None)

    def __init__(self, folder: Path, background: Background, parent: QObject | None = None) -> None:
        """`folder` need not exist."""
        super().__init__(parent)
        self._folder, self._background = folder, background

    def open(self, folder: Path) -> None:
        """Measure the room of another folder from now on."""
        self._folder = folder
        self.refresh()

    def refresh(self) -> None:
        """Measure the room again."""
        self._background.look(lambda: _free_bytes(self._folder), self._take)

    def _take(self, free: int | None) -> None:
        self.free_bytes = free


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(nearest_folder(folder)).free
    except OSError:
        return None
