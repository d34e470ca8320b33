"""Pictures that are dragged out of a list as files."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    QUrl,
)
from PySide6.QtGui import QDrag, QPixmap
from PySide6.QtWidgets import QWidget

Index = QModelIndex | QPersistentModelIndex
_SIDE = 96
# Asked for at every turn: to put them together takes longer than the rest of the answer.
_PICTURE = (
    Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsDragEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
)


class DraggedPictures(QAbstractListModel):
    """An item model whose rows are picture files; a drag of rows is a list of file URLs."""

    def path_at(self, row: int) -> str | None:
        """Return the path of the file in a row; None if it is gone."""
        raise NotImplementedError

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Allow selecting and dragging of pictures."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _PICTURE

    def mimeTypes(self) -> list[str]:  # noqa: N802 (Qt's name)
        """Return the type of dragged pictures: a list of file URLs."""
        return ["text/uri-list"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802 (Qt's name)
        """Return the URLs of dragged pictures' files."""
        return files_as_data(
            path for index in indexes if (path := self.path_at(index.row())) is not None
        )


def files_as_data(paths: Iterable[str]) -> QMimeData:
    """Return files as they are dragged and copied."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def drag_out(source: QWidget, data: QMimeData, pixmap: QPixmap | None) -> None:
    """Drag files out of a widget, to be copied, under a small picture of one of them."""
    drag = QDrag(source)
    drag.setMimeData(data)
    if pixmap is not None and not pixmap.isNull():
        side = round(_SIDE * pixmap.devicePixelRatio())
        aspect, smooth = Qt.AspectRatioMode, Qt.TransformationMode.SmoothTransformation
        drag.setPixmap(pixmap.scaled(QSize(side, side), aspect.KeepAspectRatio, smooth))
    drag.exec(Qt.DropAction.CopyAction, Qt.DropAction.CopyAction)
