"""Whole pictures for the viewer: decoded in the background, the latest kept for going back."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

import msgspec
from PySide6.QtCore import QObject, QSize, Signal

from app.background import Background
from app.decoding import MAX_PIXELS, decode
from app.gallery.rows import GalleryRow
from app.library.picture_files import Picture
from ui.picture_facts import Fact, read_facts
from ui.picture_levels import PictureLevels, make_levels

# Beside the one that is shown: neighbours, and those just seen.
_BUDGET_BYTES = 160 << 20


class LoadedPicture(msgspec.Struct, frozen=True):
    """A picture's size, its levels of detail, None if it cannot be shown, and what made it."""

    path: str
    shape: QSize
    levels: PictureLevels | None
    facts: tuple[Fact, ...]

    @property
    def bytes(self) -> int:
        """The memory that the pictures take."""
        return sum(image.sizeInBytes() for image in self.levels.images) if self.levels else 0


class PictureLoader(QObject):
    """Reads pictures on one thread, the wanted one before those that may be wanted next."""

    # Emits the ErrorInfo of an internal error.
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background(1, self)
        self._background.failed.connect(self.failed)
        # A file that another program has changed is another picture.
        self._kept: OrderedDict[Picture, LoadedPicture] = OrderedDict()
        self._waiting: OrderedDict[Picture, list[Callable[[LoadedPicture], None]]] = OrderedDict()
        self._busy = False
        self._wanted: Picture | None = None

    def want(self, row: GalleryRow, then: Callable[[LoadedPicture], None]) -> None:
        """Call `then` with a picture, at once if it is kept."""
        self._wanted = wanted = _picture(row)
        kept = self._kept.get(wanted)
        if kept is not None:
            self._kept.move_to_end(wanted)
            then(kept)
            return
        self._waiting.setdefault(wanted, []).append(then)
        self._waiting.move_to_end(wanted, last=False)
        self._pump()

    def expect(self, rows: Iterable[GalleryRow]) -> None:
        """Read these when nothing else is wanted; earlier expectations are given up."""
        for picture in [picture for picture, wanting in self._waiting.items() if not wanting]:
            del self._waiting[picture]
        for picture in map(_picture, rows):
            if picture not in self._kept:
                self._waiting.setdefault(picture, [])
        self._pump()

    def rest(self) -> None:
        """Keep no picture but the one wanted last: nobody goes from one to the next any more."""
        self.expect(())
        for picture in [picture for picture in self._kept if picture != self._wanted]:
            del self._kept[picture]

    @property
    def kept(self) -> tuple[str, ...]:
        """The paths of the pictures in memory."""
        return tuple(picture.path for picture in self._kept)

    def close(self) -> None:
        """Wait for the decoding thread."""
        self._waiting.clear()
        self._background.close()

    def _pump(self) -> None:
        if self._busy or not self._waiting:
            return
        picture, wanting = self._waiting.popitem(last=False)
        self._busy = True

        def load() -> LoadedPicture:
            return _load(picture.path)

        self._background.run(
            load, lambda loaded: self._keep(picture, loaded, wanting), otherwise=self._go_on
        )

    def _go_on(self) -> None:
        self._busy = False
        self._pump()

    def _keep(
        self,
        picture: Picture,
        loaded: LoadedPicture,
        wanting: Sequence[Callable[[LoadedPicture], None]],
    ) -> None:
        self._busy = False
        self._kept[picture] = loaded
        while (
            len(self._kept) > 1 and sum(kept.bytes for kept in self._kept.values()) > _BUDGET_BYTES
        ):
            self._kept.popitem(last=False)
        for then in wanting:
            then(loaded)
        self._pump()


def _picture(row: GalleryRow) -> Picture:
    return Picture(row.path, row.modified_ns, row.size)


def _load(path: str) -> LoadedPicture:
    picture = decode(path, QSize(MAX_PIXELS, MAX_PIXELS))
    levels = None if picture.image.isNull() else make_levels(picture.image)
    return LoadedPicture(path, QSize(picture.width, picture.height), levels, read_facts(path))
