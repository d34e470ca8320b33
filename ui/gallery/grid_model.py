"""The item model of the Gallery's grid: ids in order, rows fetched by pages, thumbnails."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QPixmap

from app.gallery.index import GalleryIndex
from app.gallery.rows import GalleryRow
from ui.gallery.contents import NOTHING, Contents, Section
from ui.gallery.labels import hover_lines, spoken
from ui.gallery.tile_store import TileStore
from ui.item_models.dragged_pictures import DraggedPictures, Index
from ui.widgets.labels import plain_tooltip

# Few, as the rows of pictures that follow each other lie far apart in the index: each takes 40 µs.
_PAGE = 16
_PAGES = 375
_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.ToolTipRole,
)


class GridModel(DraggedPictures):
    """An item model with one row for each picture that was found.

    Ids are kept; the rows of the index are fetched in pages when they are asked for.
    """

    def __init__(
        self, index: GalleryIndex, tiles: TileStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._index = index
        self._tiles = tiles
        self._contents = NOTHING
        self._pages: OrderedDict[int, list[GalleryRow | None]] = OrderedDict()
        tiles.ready.connect(self._on_tile)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections in order."""
        return self._contents.sections

    @property
    def ids(self) -> Sequence[int]:
        """The pictures' ids in order."""
        return self._contents.ids

    def show(self, contents: Contents) -> None:
        """Show other pictures, or the same ones in another order."""
        self.beginResetModel()
        self._pages.clear()
        self._contents = contents
        self.endResetModel()

    def forget_rows(self) -> None:
        """Fetch the rows again: their marks or texts have changed."""
        self._pages.clear()
        if self.ids:
            self.dataChanged.emit(self.index(0), self.index(len(self.ids) - 1))

    def row(self, number: int) -> GalleryRow | None:
        """Return a picture's row; None if it left the index since it was found."""
        if not 0 <= number < len(self.ids):
            return None
        page, place = divmod(number, _PAGE)
        if page not in self._pages:
            start = page * _PAGE
            ids = self.ids[start : start + _PAGE]
            found = {row.id: row for row in self._index.rows(ids)}
            self._pages[page] = [found.get(id_) for id_ in ids]
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(page)
        return self._pages[page][place]

    def pixmap(self, number: int) -> QPixmap | None:
        """Return a picture's thumbnail; if it is not there yet, request it and return None."""
        row = self.row(number)
        return None if row is None else self._tiles.get(row)

    def use_side(self, side: int, ratio: float) -> None:
        """Have thumbnails made for squares of another side, in device-independent pixels."""
        self._tiles.use_side(side, ratio)

    def number_of(self, picture: int) -> int | None:
        """Return where the picture with an id is; None if it was not found."""
        try:
            return self.ids.index(picture)
        except ValueError:
            return None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of pictures."""
        return 0 if parent.isValid() else len(self.ids)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a picture's name, tooltip or description."""
        if role not in _ROLES or (row := self.row(index.row())) is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return Path(row.path).name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        return plain_tooltip(*hover_lines(row))

    def path_at(self, row: int) -> str | None:
        """Return the path of a picture's file; None if it left the index since it was found."""
        picture = self.row(row)
        return None if picture is None else picture.path

    def _on_tile(self, picture: int) -> None:
        # Sought where rows were asked for lately: among all, each of a screen's thumbnails would
        # take milliseconds.
        for page in reversed(self._pages):
            start = page * _PAGE
            ids = self.ids[start : start + _PAGE]
            if picture in ids:
                index = self.index(start + ids.index(picture))
                self.dataChanged.emit(index, index)
                return
