"""Pictures in cards: read on another thread, small, and remembered."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from app.background import Background
from app.decoding import decode
from app.form.edited_pictures import EditedPictures

# The longest side in device pixels.
_SIDE = 320
_MOST = 64


class CardPictures(QObject):
    """The pictures of files by their paths; `read` tells that there is one more, or is to be."""

    read = Signal()

    def __init__(self, background: Background, edited: EditedPictures, parent: QObject) -> None:
        super().__init__(parent)
        self._background, self._edited = background, edited
        # By path and edition. None for a file that is no picture, absent while it is read.
        self._images: dict[tuple[str, int], QImage | None] = {}
        self._reading: set[tuple[str, int]] = set()
        edited.changed.connect(self._on_edited)

    def show(self, path: str, show: Callable[[QImage | None], None]) -> None:
        """Call `show` with a picture if it is read, None for none; else begin to read it."""
        wanted = path, self._edited.edition(path)
        if wanted in self._images:
            show(self._images[wanted])
        elif wanted not in self._reading:
            self._reading.add(wanted)
            self._begin(wanted)

    def _on_edited(self, _paths: frozenset[str]) -> None:
        self.read.emit()

    def _begin(self, wanted: tuple[str, int]) -> None:
        path, _ = wanted

        def read() -> QImage | None:
            image = decode(path, QSize(_SIDE, _SIDE)).image
            return None if image.isNull() else image

        def take(image: QImage | None) -> None:
            self._reading.discard(wanted)
            self._images[wanted] = image
            for earlier in tuple(self._images)[:-_MOST]:
                del self._images[earlier]
            self.read.emit()

        # Else its card would wait for it without end.
        self._background.run(read, take, otherwise=lambda: take(None))
