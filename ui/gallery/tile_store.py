"""The grid's thumbnails in memory, scaled in the background, the latest wanted first."""

import os
from collections import OrderedDict
from typing import NamedTuple

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from app.background import Background
from app.gallery.precedence import Precedence
from app.gallery.rows import GalleryRow
from app.gallery.thumbnails import ThumbnailFiles

# About 900 tiles of 160 pixels: three screens of them.
_BUDGET_BYTES = 96 << 20
# What is kept while nobody sees the grid: about the screen that is seen again on coming back.
_RESTING_BYTES = 16 << 20
# Older requests are dropped: their tiles were scrolled out of view.
_MOST_WAITING = 150


class _Key(NamedTuple):
    """A picture's content: a file that is written anew has another one."""

    path: str
    modified_ns: int
    size: int


class TileStore(QObject):
    """A cache of thumbnails, whose making gives way to searches.

    `ready` emits the id of the picture whose thumbnail came.
    """

    ready = Signal(int)
    # Emits the ErrorInfo of an internal error.
    failed = Signal(object)

    def __init__(
        self, files: ThumbnailFiles, precedence: Precedence, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._files, self._precedence = files, precedence
        self._threads = max(1, (os.cpu_count() or 2) - 1)
        self._background = Background(self._threads, self)
        self._background.failed.connect(self.failed)
        self._side, self._ratio = 1, 1.0
        self._bytes = 0
        # Each with the side that it was made for: others are shown until theirs come.
        self._kept: OrderedDict[_Key, tuple[QPixmap, int]] = OrderedDict()
        self._waiting: OrderedDict[_Key, GalleryRow] = OrderedDict()
        self._busy: set[_Key] = set()

    def use_side(self, side: int, ratio: float) -> None:
        """Make thumbnails for squares of this side, in device-independent pixels, from now on."""
        self._side, self._ratio = round(side * ratio), ratio

    def get(self, row: GalleryRow) -> QPixmap | None:
        """Return a picture's thumbnail, requested if there is none yet or none of this size."""
        key = _Key(row.path, row.modified_ns, row.size)
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        if (kept is None or kept[1] != self._side) and row.trouble is None:
            self._ask(key, row)
        return kept[0] if kept is not None else None

    @property
    def kept(self) -> int:
        """The number of thumbnails in memory."""
        return len(self._kept)

    def rest(self) -> None:
        """Keep the thumbnails seen last: nobody sees the grid for now."""
        self._waiting.clear()
        self._drop_beyond(_RESTING_BYTES)

    def close(self) -> None:
        """Drop all requests and wait for the threads."""
        self._waiting.clear()
        self._background.close()

    def _ask(self, key: _Key, row: GalleryRow) -> None:
        if key in self._busy:
            return
        self._waiting[key] = row
        self._waiting.move_to_end(key)
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popitem(last=False)
        self._pump()

    def _pump(self) -> None:
        while self._waiting and len(self._busy) < self._threads:
            key, row = self._waiting.popitem()
            self._busy.add(key)
            self._start(key, row, self._side)

    def _start(self, key: _Key, row: GalleryRow, side: int) -> None:
        def read() -> QImage:
            self._precedence.give_way()
            image = self._files.read(row, side)
            if image.isNull() or max(image.width(), image.height()) <= side:
                return image
            aspect, smooth = Qt.AspectRatioMode, Qt.TransformationMode.SmoothTransformation
            return image.scaled(QSize(side, side), aspect.KeepAspectRatio, smooth)

        def take(image: QImage) -> None:
            self._keep(key, row.id, side, image)

        # Kept as a picture that cannot be shown, it is not asked for without end.
        self._background.run(read, take, otherwise=lambda: take(QImage()))

    def _keep(self, key: _Key, picture: int, side: int, image: QImage) -> None:
        self._busy.discard(key)
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(self._ratio)
        before = self._kept.pop(key, None)
        if before is not None:
            self._bytes -= _bytes(before[0])
        self._kept[key] = pixmap, side
        self._bytes += _bytes(pixmap)
        self._drop_beyond(_BUDGET_BYTES)
        self._pump()
        self.ready.emit(picture)

    def _drop_beyond(self, budget: int) -> None:
        while self._bytes > budget and len(self._kept) > 1:
            _, (dropped, _) = self._kept.popitem(last=False)
            self._bytes -= _bytes(dropped)


def _bytes(pixmap: QPixmap) -> int:
    return 256 + pixmap.width() * pixmap.height() * 4
