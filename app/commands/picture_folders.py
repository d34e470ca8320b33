"""The folder in which new pictures are saved, and the Gallery's index of all folders."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.library.disk_room import DiskRoom
from app.library.output_pictures import OutputPictures
from app.notices.notices import NoticeState
from app.paths import Paths, pictures_folder
from app.settings_state import SettingsState

if TYPE_CHECKING:
    from app.gallery.index import GalleryIndex


class PictureFolders(QObject):
    """Changes the folder for new pictures; those in the one before stay in the Gallery."""

    def __init__(
        self,
        paths: Paths,
        settings: SettingsState,
        pictures: OutputPictures,
        disk: DiskRoom,
        notices: NoticeState,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._paths, self._settings = paths, settings
        self._pictures, self._disk, self._notices = pictures, disk, notices
        self._index: GalleryIndex | None = None
        settings.changed.connect(self._use_settings)

    @property
    def index(self) -> "GalleryIndex":
        """The pictures of all folders, which are opened, and made, by the first who asks."""
        if self._index is None:
            # Here, as the window starts sooner without the readers of a dozen tools.
            from app.gallery.index import GalleryIndex

            paths = self._paths
            self._index = GalleryIndex(paths.state, paths.cache, self._pictures.folder, self)
            self._index.failed.connect(self._notices.tell_error)
            self._index.write_sidecars = self._settings.now.sidecars
            self._index.start()
        return self._index

    def look_again(self) -> None:
        """Read the folders again."""
        self._pictures.refresh()
        if self._index is not None:
            self._index.refresh()

    def save_in(self, folder: Path) -> None:
        """Save new pictures in this folder, after the next start as well."""
        self._settings.change(pictures_folder=str(folder))
        # Where the environment names a folder, the settings do not count.
        self._open(folder)

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()

    def _use_settings(self, changed: frozenset[str]) -> None:
        """Follow the settings; `changed` are names of settings."""
        now = self._settings.now
        if "pictures_folder" in changed:
            self._open(pictures_folder(now))
        if self._index is not None:
            self._index.write_sidecars = now.sidecars

    def _open(self, folder: Path) -> None:
        before, had_pictures = self._pictures.folder, len(self._pictures) > 0
        self._pictures.open(folder)
        self._disk.open(folder)
        if had_pictures or self._index is not None:
            self.index.open(folder)
        if had_pictures and before != folder:
            self.index.add_folder(before)
