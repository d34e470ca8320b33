"""Files that are dragged over the window: cards for what can be done with them, and the drop."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.form.other_formats import begins_as_png, is_of_other_format
from app.library.file_kind import FileKind
from app.library.picture_files import is_picture
from app.listed_names import as_listed
from app.session import Session
from ui.create.page import CreatePage
from ui.drop_spots import DropSpot
from ui.places import Place, Places
from ui.theme.theme import Theme
from ui.widgets.drop_overlay import NOTHING, DropOverlay
from ui.widgets.spot_marks import SpotMarks
from ui.widgets.zoom_view import ZoomView

# The time for which a picture is held over the way to the form until the form opens.
_OPENS_AFTER_MS = 400


class DropOffer(NamedTuple):
    """A card for a dragged file: its texts, the action of a drop on it, and what is shown then.

    Without an action the card says why the file is refused.
    """

    title: str
    sentence: str
    take: Callable[[], object] | None
    place: Place = Place.CREATE


class Drops(QObject):
    """Takes the files that are dropped on a window, wherever on it, as copies.

    A picture over the form of Create goes where it is let go; else cards ask. From another place
    a picture reaches the form through the button of Create. `open_form` shows the form; it is
    called before the action of a card, too, unless that belongs to another place.
    """

    def __init__(
        self,
        session: Session,
        theme: Theme,
        window: QWidget,
        page: CreatePage,
        places: Places,
        open_form: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._page = session, window, page
        self._places, self._open_form = places, open_form
        self._door = places.rail.buttons[Place.CREATE]
        # The files of a drag: read once, as the program that drags them answers anew each time.
        self._dragged: list[Path] = []
        # What the cards were made for, and what they offer: a pointer that moves reads no file.
        self._offered: tuple[tuple[Path, bool], list[DropOffer]] | None = None
        self._opening = QTimer(self, singleShot=True, interval=_OPENS_AFTER_MS)
        self._opening.timeout.connect(self._go_through)
        self.overlay = DropOverlay(theme, window)
        self.marks = SpotMarks(theme, window)
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
            self._dragged = []
            self._end()
        else:
            return False
        return True

    def _enter(self, event: QDragEnterEvent) -> None:
        """Accept dragged local files, also pictures from the window's own strip."""
        self._dragged = dropped_files(event.mimeData())
        if self._dragged:
            _accept_copy(event)
            self._show_offers(event)

    def _move(self, event: QDragMoveEvent) -> None:
        """Highlight what is under the pointer; a drop beside cards and spots does nothing."""
        self._show_offers(event)
        acts = self._acts_at(event.position().toPoint())
        if acts or self._spot_at(event, self._dragged) is not None:
            _accept_copy(event)
        else:
            event.ignore()

    def _drop(self, event: QDropEvent) -> None:
        """Perform the action of the spot or the card that the file was dropped on."""
        files = taken_files(event.mimeData())
        spot = self._spot_at(event, files)
        chosen = self.overlay.chosen(event.position().toPoint())
        self._dragged = []
        self._end()
        if spot is not None:
            _accept_copy(event)
            self._session.pictures.in_our_format(files[0], spot.take)
            return
        offer = None
        if files and chosen is not None:
            # The file may be another than the one that the cards were made for.
            offers = self.offers(files[0], ours=self._is_ours(event), others=files[1:])
            offer = _acting(offers, chosen)
        if offer is None:
            event.ignore()
            return
        _accept_copy(event)
        self.take(offer)

    def take(self, offer: DropOffer) -> None:
        """Do what a card offers, in its place; if its file is refused, say why."""
        if offer.take is None:
            self._session.notices.tell(f"{offer.title}.", offer.sentence)
            return
        if offer.place is Place.CREATE:
            self._open_form()
        else:
            self._places.open(offer.place)
        offer.take()

    def _end(self) -> None:
        self.overlay.hide()
        self.marks.hide()
        self._opening.stop()
        self._offered = None
        self._page.form.scrolling.stop()

    def _show_offers(self, event: QDragMoveEvent) -> None:
        place = event.position().toPoint()
        if self._is_slip(event):
            # A click with a slight movement must not flash the cards.
            self._end()
            return
        if not event.mimeData().hasUrls():
            # The other program may end, or take its data back, while it drags.
            self._dragged = []
        files = self._dragged
        if not files:
            self._end()
            return
        # A picture that is seen in full may begin its way anywhere: cards would lie over it.
        is_seen = isinstance(event.source(), ZoomView)
        offers = [] if is_seen else self._offers_of(files[0], ours=self._is_ours(event))
        clear = NOTHING
        if self._takes_spots(files[0]):
            self._show_spots(event)
            clear = self._area(self._page.form)
        elif self._takes_door(files[0]):
            self._show_door(place)
            clear = self._area(self._door)
        if offers:
            self.overlay.appear([(offer.title, offer.sentence) for offer in offers], clear)
        self.overlay.point_at(place if self._acts_at(place) else None)

    def _acts_at(self, place: QPoint) -> bool:
        """Return True at a point of a card that takes the file."""
        offers = self._offered[1] if self._offered else []
        return _acting(offers, self.overlay.chosen(place)) is not None

    def _offers_of(self, file: Path, *, ours: bool) -> list[DropOffer]:
        if self._offered is None or self._offered[0] != (file, ours):
            self._offered = (file, ours), self.offers(file, ours=ours)
        return self._offered[1]

    def _takes_spots(self, file: Path) -> bool:
        return _is_for_form(file) and self._page.form.isVisible()

    def _takes_door(self, file: Path) -> bool:
        return _is_for_form(file) and not self._page.isVisible()

    def _show_door(self, place: QPoint) -> None:
        """Mark the way to the form, which opens for a picture that is held over it."""
        area = self._area(self._door)
        at = 0 if area.contains(place) else None
        self.marks.show_spots(area, [area], at, self.tr("Open") if at is not None else "")
        if at is None:
            self._opening.stop()
        elif not self._opening.isActive():
            self._opening.start()

    def _go_through(self) -> None:
        """Open the form; its places are marked when the pointer moves."""
        self._end()
        self._open_form()

    def _show_spots(self, event: QDropEvent) -> None:
        """Mark the places of the form that take the picture, and scroll to those out of sight."""
        place, form = event.position().toPoint(), self._page.form
        spots = self._spots()
        at = next((at for at, (_, area) in enumerate(spots) if area.contains(place)), None)
        words = spots[at][0].words if at is not None else ""
        self.marks.show_spots(self._area(form), [area for _, area in spots], at, words)
        if self._area(form).contains(place):
            form.scrolling.follow(self._window.mapToGlobal(place))
        else:
            form.scrolling.stop()

    def _spots(self) -> list[tuple[DropSpot, QRect]]:
        """Return the places of the form that take pictures, and their parts that are in sight."""
        seen = self._area(self._page.form.viewport())
        spots = ((spot, self._area(spot.widget) & seen) for spot in self._page.form.drop_spots())
        return [(spot, area) for spot, area in spots if not area.isEmpty()]

    def _spot_at(self, event: QDropEvent, files: Sequence[Path]) -> DropSpot | None:
        if not files or not self._takes_spots(files[0]):
            return None
        place = event.position().toPoint()
        return next((spot for spot, area in self._spots() if area.contains(place)), None)

    def _area(self, widget: QWidget) -> QRect:
        """Return the place of a widget in the window."""
        return QRect(widget.mapTo(self._window, QPoint(0, 0)), widget.size())

    def _is_slip(self, event: QDropEvent) -> bool:
        """Return True while a picture of the window is still where it was pressed."""
        source = event.source()
        if not isinstance(source, QAbstractItemView) or not source.isVisible():
            return False
        if source is self._page.strip:
            area = self._area(source)
        else:
            viewport, tile = source.viewport(), source.visualRect(source.currentIndex())
            area = QRect(viewport.mapTo(self._window, tile.topLeft()), tile.size())
        return area.contains(event.position().toPoint())

    def _is_ours(self, event: QDropEvent) -> bool:
        return event.source() is self._page.strip

    def offers(
        self, file: Path, *, ours: bool = False, others: Sequence[Path] = ()
    ) -> list[DropOffer]:
        """Return the cards for a file; `ours` is True for the strip's, whose settings have buttons.

        `others` are dropped with it.
        """
        steering = self._steering_offers(file)
        if begins_as_png(file):
            takes = (partial(self._take_as_png, file, at) for at in range(len(steering)))
            return [offer._replace(take=take) for offer, take in zip(steering, takes, strict=True)]
        if ours:
            # A button already reuses its settings, and the drag may be accidental.
            return steering
        if not is_picture(file):
            return self._other_offers(file, others)
        use = DropOffer(
            self.tr("Use its settings"),
            self.tr("How it was made, whichever program made it."),
            lambda: self._session.open_file(file),
        )
        return [use, *steering]

    def _take_as_png(self, file: Path, at: int) -> None:
        """Keep a picture of a format that only begins something, and do what a card offers."""

        def take(kept: Path) -> None:
            offers = self._steering_offers(kept)
            if at < len(offers):
                self.take(offers[at])

        self._session.pictures.in_our_format(file, take)

    def _steering_offers(self, file: Path) -> list[DropOffer]:
        """Return the cards of what a picture can do for the next one."""
        start = DropOffer(
            self.tr("Start from it"),
            self.tr("It is redrawn, all of it or a part."),
            lambda: self._page.form.inputs.start_from(str(file)),
        )
        return [start, *self._layer_offers(file)]

    def _other_offers(self, file: Path, others: Sequence[Path]) -> list[DropOffer]:
        """Return the cards for a folder, or a file that is no picture."""
        session, opening = self._session, self._session.opening
        kind = opening.kind(file)
        if kind is FileKind.FOLDER:
            models = DropOffer(
                self.tr("Look for models in it"),
                self.tr("They are used where they lie."),
                lambda: session.models.folders.add(file),
                Place.MODELS,
            )
            pictures = DropOffer(
                self.tr("Show its pictures"),
                self.tr("The folder joins those of the Gallery."),
                lambda: session.gallery_index.add_folder(file),
                Place.GALLERY,
            )
            return [models, pictures]
        title, sentence = self._offer_words(kind)
        if kind is FileKind.FOREIGN:
            return [DropOffer(title, sentence, None)]
        return [DropOffer(title, sentence, lambda: opening.open_with(file, others))]

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
        show = DropOffer(
            self.tr("Use as a reference picture"),
            self.tr("It is changed or combined as the prompt says."),
            lambda: self._page.form.references.take(file),
        )
        offers = (
            (session.references.has_room, show),
            (session.control.kind.is_offered(features), follow),
            (session.image_prompt.kind.is_offered(features), prompt),
        )
        return [offer for is_offered, offer in offers if is_offered]

    def _offer_words(self, kind: FileKind) -> tuple[str, str]:
        used = self.tr("It is used where it lies.")
        untold = (
            self.tr("Use this file"),
            self.tr("As what it is: a model, a LoRA, a ControlNet, an upscaler."),
        )
        return {
            FileKind.LORA: (self.tr("Add this LoRA"), used),
            FileKind.EMBEDDING: (
                self.tr("Add this embedding"),
                self.tr("It is copied to yours, and the prompt names it."),
            ),
            FileKind.CONTROLNET: (
                self.tr("Use this ControlNet"),
                self.tr("It follows a picture that you choose."),
            ),
            FileKind.VAE: (self.tr("Use this VAE"), self.tr("With the model that is chosen.")),
            FileKind.OPAQUE: untold,
            FileKind.UNTOLD: untold,
            FileKind.FOREIGN: (
                self.tr("This file cannot be used"),
                self._session.opening.taken_files,
            ),
            FileKind.OTHER: (self.tr("Use this model"), used),
        }[kind]


def dropped_files(data: QMimeData) -> list[Path]:
    """Return the local files in dragged data."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def taken_files(data: QMimeData) -> list[Path]:
    """Return the local files in dropped or pasted data, as their folders list them."""
    return [Path(as_listed(str(file))) for file in dropped_files(data)]


def _is_for_form(file: Path) -> bool:
    """Return True for the name of a picture that the form takes."""
    return is_picture(file) or is_of_other_format(file)


def _acting(offers: Sequence[DropOffer], chosen: int | None) -> DropOffer | None:
    """Return the chosen offer; None without one, and where it refuses the file."""
    offer = offers[chosen] if chosen is not None and chosen < len(offers) else None
    return offer if offer is not None and offer.take is not None else None


def _accept_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy, so that the source never moves the file."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
