"""Thumbnails for lists: decoded in the background, latest request first, in a bounded cache."""

import os
from collections import OrderedDict

import msgspec
from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QPixmap

from app.background import Background
from app.library.picture_files import Picture
from ui.pictures import ReadPicture, read_picture

BUDGET_BYTES = 64 << 20
# Older requests are dropped: their rows were scrolled out of view.
_MOST_WAITING = 200


class Thumbnail(msgspec.Struct, frozen=True):
    """A small picture, None if the file cannot be read, and the beginning of its prompt."""

    pixmap: QPixmap | None
    prompt: str = ""


class ThumbnailStore(QObject):
    """A cache of thumbnails that decodes missing ones; `ready` emits the path of each new one."""

    ready = Signal(str)
    # Emits the ErrorInfo of an internal error.
    failed = Signal(object)

    def __init__(
        self, side: int, *, budget: int = BUDGET_BYTES, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._side = side
        self._budget = budget
        self._threads = max(1, (os.cpu_count() or 2) - 1)
        self._background = Background(self._threads, self)
        self._background.failed.connect(self.failed)
        self._ratio = 1.0
        self._bytes = 0
        self._kept: OrderedDict[Picture, Thumbnail] = OrderedDict()
        self._waiting: OrderedDict[Picture, None] = OrderedDict()
        self._busy: set[Picture] = set()

    def use_ratio(self, ratio: float) -> None:
        """Make thumbnails for a screen with this device pixel ratio from now on."""
        if ratio != self._ratio:
            self._ratio = ratio
            self._kept.clear()
            self._bytes = 0

    def get(self, picture: Picture) -> Thumbnail | None:
        """Return a picture's thumbnail; if it is not cached, request it and return None."""
        kept = self._kept.get(picture)
        if kept is not None:
            self._kept.move_to_end(picture)
            return kept
        if picture not in self._busy:
            self._waiting[picture] = None
            self._waiting.move_to_end(picture)
            if len(self._waiting) > _MOST_WAITING:
                self._waiting.popitem(last=False)
            self._pump()
        return None

    @property
    def kept_bytes(self) -> int:
        """The size of the cached thumbnails in bytes."""
        return self._bytes

    def close(self) -> None:
        """Drop all requests and wait for the decoding threads."""
        self._waiting.clear()
        self._background.close()

    def _pump(self) -> None:
        while self._waiting and len(self._busy) < self._threads:
            picture, _ = self._waiting.popitem()
            self._busy.add(picture)
            side = round(self._side * self._ratio)
            self._start(picture, QSize(side, side))

    def _start(self, picture: Picture, within: QSize) -> None:
        ratio = self._ratio

        def read() -> ReadPicture:
            return read_picture(picture.path, within, cover=True)

        def take(done: ReadPicture) -> None:
            self._busy.discard(picture)
            if ratio == self._ratio:
                self._keep(picture, done)
            self._pump()
            # Of another screen than the present one it is asked for again.
            self.ready.emit(picture.path)

        def give_up() -> None:
            self._busy.discard(picture)
            self._keep(picture, None)
            self._pump()

        self._background.run(read, take, otherwise=give_up)

    def _keep(self, picture: Picture, done: ReadPicture | None) -> None:
        pixmap = None
        if done is not None and not done.image.isNull():
            pixmap = QPixmap.fromImage(done.image)
            pixmap.setDevicePixelRatio(self._ratio)
        # A list shows no more than this of a prompt.
        prompt = done.request.prompt[:200] if done and done.request else ""
        self._kept[picture] = Thumbnail(pixmap, prompt)
        self._bytes += _bytes(self._kept[picture])
        while self._bytes > self._budget and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= _bytes(dropped)


def _bytes(thumbnail: Thumbnail) -> int:
    pixmap = thumbnail.pixmap
    return 256 + (pixmap.width() * pixmap.height() * 4 if pixmap is not None else 0)
