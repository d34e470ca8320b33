"""Pictures in cards: read on another thread, small, and remembered."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from app.background import Background
from app.decoding import decode

# The longest side in device pixels.
_SIDE = 320
_MOST = 64


class CardPictures(QObject):
    """The pictures of files by their paths; `read` tells that one more is there."""

    read = Signal()

    def __init__(self, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._background = background
        # None for a file that is no picture, absent while it is read.
        self._images: dict[str, QImage | None] = {}
        self._reading: set[str] = set()

    def show(self, path: str, show: Callable[[QImage | None], None]) -> None:
        """Call `show` with a picture if it is read, None for none; else begin to read it."""
        if path in self._images:
            show(self._images[path])
        elif path not in self._reading:
            self._reading.add(path)
            self._begin(path)

    def _begin(self, path: str) -> None:
        def read() -> QImage | None:
            image = decode(path, QSize(_SIDE, _SIDE)).image
            return None if image.isNull() else image

        def take(image: QImage | None) -> None:
            self._reading.discard(path)
            self._images[path] = image
            for earlier in tuple(self._images)[:-_MOST]:
                del self._images[earlier]
            self.read.emit()

        self._background.run(read, take)
