"""The list of places beside a folder's entries: the user's folders, and other drives."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDir, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app.paths import exists
from ui.theme.theme import Theme
from ui.widgets.labels import plain_tooltip

translate = QCoreApplication.translate

_PATH = Qt.ItemDataRole.UserRole
_WIDTH = 176
# Where Linux has drives that are put in.
_USER = os.environ.get("USER", "")
_MOUNTS = (f"/run/media/{_USER}", f"/media/{_USER}", "/mnt")


class PlacesList(QListWidget):
    """A list of places; a click or Enter goes to one."""

    # Emits the folder of the place.
    chosen = Signal(Path)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "places")
        self.setAccessibleName(self.tr("Places"))
        self.setFixedWidth(_WIDTH)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.itemClicked.connect(self._choose)
        self.itemActivated.connect(self._choose)

    def fill(self, start: Path) -> None:
        """List the places, before them the folder that the question begins in."""
        usual = dict(usual_places())
        if start not in usual:
            usual = {start: start.name or str(start), **usual}
        icon = self._theme.icon("folder", self._theme.colours.muted)
        for folder, title in usual.items():
            item = QListWidgetItem(icon, title)
            item.setData(_PATH, str(folder))
            item.setToolTip(plain_tooltip(str(folder)))
            self.addItem(item)

    def show_folder(self, folder: Path) -> None:
        """Mark the place that is a folder; none if it is no place."""
        rows = (row for row in range(self.count()) if self.item(row).data(_PATH) == str(folder))
        self.setCurrentRow(next(rows, -1))

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(Path(item.data(_PATH)))


def usual_places() -> Iterator[tuple[Path, str]]:
    """Return the folders of the user that exist, and other drives, with their titles."""
    place = QStandardPaths.StandardLocation
    homes = (
        (place.HomeLocation, translate("files", "Home")),
        (place.DesktopLocation, translate("files", "Desktop")),
        (place.PicturesLocation, translate("files", "Pictures")),
        (place.DownloadLocation, translate("files", "Downloads")),
        (place.DocumentsLocation, translate("files", "Documents")),
    )
    for location, title in homes:
        folder = Path(QStandardPaths.writableLocation(location))
        if exists(folder):
            yield folder, title
    for drive in QDir.drives():
        path = Path(drive.absolutePath())
        yield path, translate("files", "Computer") if path == Path("/") else str(path)
    for mounts in _MOUNTS:
        # Nothing is asked of the drives themselves: one on a lost network would not answer.
        with suppress(OSError), os.scandir(mounts) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                yield Path(entry.path), entry.name
