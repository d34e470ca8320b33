"""Files that are dragged over the window: cards for what can be done with them, and the drop."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.library.file_kind import FileKind
from app.library.gallery import is_picture
from app.session import Session
from ui.theme.theme import Theme
from ui.widgets.drop_overlay import DropOverlay


class DropOffer(NamedTuple):
    """A card for a dragged file: its texts, and the action of a drop on it."""

    title: str
    sentence: str
    take: Callable[[], None]


class Drops(QObject):
    """Takes the files that are dropped on a window, wherever on it, as copies.

    `taken` is called before the action of a drop, which fills the form.
    """

    def __init__(
        self,
        session: Session,
        theme: Theme,
        window: QWidget,
        strip: QWidget,
        start_from: Callable[[str], None],
        taken: Callable[[], None],
    ) -> None:
        """`strip` shows pictures of the window's own; `start_from` makes one a start picture."""
        super().__init__(window)
        self._session, self._window, self._strip = session, window, strip
        self._start_from, self._taken = start_from, taken
        self.overlay = DropOverlay(theme, window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Handle the window's drag events."""
        # QDropEvent is the base of the others.
        if isinstance(event, QDragEnterEvent):
            self._enter(event)
        elif isinstance(event, QDragMoveEvent):
            self._move(event)
        elif isinstance(event, QDropEvent):
            self._drop(event)
        elif event.type() is QEvent.Type.DragLeave:
            # The dragged files left the window, or Esc was pressed.
            self.overlay.hide()
        else:
            return False
        return True

    def _enter(self, event: QDragEnterEvent) -> None:
        """Accept dragged local files, also pictures from the window's own strip."""
        if dropped_files(event.mimeData()):
            _accept_copy(event)
            self._show_offers(event)

    def _move(self, event: QDragMoveEvent) -> None:
        """Highlight the card under the pointer; a drop beside the cards does nothing."""
        self._show_offers(event)
        if self.overlay.chosen(event.position().toPoint()) is None:
            event.ignore()
        else:
            _accept_copy(event)

    def _drop(self, event: QDropEvent) -> None:
        """Perform the action of the card that the file was dropped on."""
        files = dropped_files(event.mimeData())
        chosen = self.overlay.chosen(event.position().toPoint())
        self.overlay.hide()
        if not files or chosen is None:
            event.ignore()
            return
        _accept_copy(event)
        offers = self.offers(files[0], ours=self._is_ours(event), others=files[1:])
        if chosen >= len(offers):
            # The file is another than the one that the cards were made for.
            event.ignore()
            return
        self._taken()
        offers[chosen].take()

    def _show_offers(self, event: QDragMoveEvent) -> None:
        place = event.position().toPoint()
        ours = self._is_ours(event)
        strip = QRect(self._strip.mapTo(self._window, QPoint(0, 0)), self._strip.size())
        if ours and strip.contains(place):
            # A click with a slight movement must not flash the cards.
            self.overlay.hide()
            return
        files = dropped_files(event.mimeData())
        if not files:
            # The other program may end, or take its data back, while it drags.
            self.overlay.hide()
            return
        offers = self.offers(files[0], ours=ours)
        self.overlay.appear([(offer.title, offer.sentence) for offer in offers])
        self.overlay.point_at(place)

    def _is_ours(self, event: QDropEvent) -> bool:
        return event.source() is self._strip

    def offers(
        self, file: Path, *, ours: bool = False, others: Sequence[Path] = ()
    ) -> list[DropOffer]:
        """Return the cards for a file; `ours` is True if it comes from this window's strip.

        `others` are dropped with it.
        """
        start = DropOffer(
            self.tr("Start from it"),
            self.tr("It is redrawn, all of it or a part."),
            lambda: self._start_from(str(file)),
        )
        steering = [start, *self._layer_offers(file)]
        if ours:
            # A button already reuses its settings, and the drag may be accidental.
            return steering
        if not is_picture(file):
            opening = self._session.opening
            title, sentence = self._offer_words(opening.kind(file))
            return [DropOffer(title, sentence, lambda: opening.open_with(file, others))]
        use = DropOffer(
            self.tr("Use its settings"),
            self.tr("How it was made, whichever program made it."),
            lambda: self._session.open_file(file),
        )
        return [use, *steering]

    def _layer_offers(self, file: Path) -> list[DropOffer]:
        """Return the cards of what the model's architecture can follow."""
        session, features = self._session, self._session.generation.suggestions.features
        follow = DropOffer(
            self.tr("Use as a control picture"),
            self.tr("Its lines, depth or pose are followed."),
            lambda: session.control.open(file),
        )
        prompt = DropOffer(
            self.tr("Use as an image prompt"),
            self.tr("A picture that says what words do not."),
            lambda: session.image_prompt.open(file),
        )
        offers = (session.control, follow), (session.image_prompt, prompt)
        return [offer for layers, offer in offers if layers.kind.is_offered(features)]

    def _offer_words(self, kind: FileKind) -> tuple[str, str]:
        used = self.tr("It is used where it lies.")
        return {
            FileKind.LORA: (self.tr("Add this LoRA"), used),
            FileKind.EMBEDDING: (
                self.tr("An embedding"),
                self.tr("It acts where a prompt names it."),
            ),
            FileKind.OPAQUE: (
                self.tr("Use this file"),
                self.tr("As a model or a LoRA, where it lies."),
            ),
            FileKind.OTHER: (self.tr("Use this model"), used),
        }[kind]


def dropped_files(data: QMimeData) -> list[Path]:
    """Return the local files in dragged data."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _accept_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy, so that the source never moves the file."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
