"""The place of the queue's drawer: over the page, or in Create below the form."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QWidget

from ui.create.page import CreatePage
from ui.dock.queue_drawer import QueueDrawer
from ui.theme.metrics import LEAST_SHARE, QUEUE_LEAST, QUEUE_WIDTH

# The least heights of the drawer in the side, and of the form above it, in pixels. The form then
# scrolls to what has the focus; the smallest window has room for both in English and German.
_LEAST_HEIGHT, _LEAST_FORM = 240, 100
# The height of four jobs in the drawer, and that of the form down to its prompt, in pixels.
_WANTED_HEIGHT, _FORM_TO_PROMPT = 430, 260
_MOVING = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class QueuePlace(QObject):
    """Puts the drawer over the trailing side of the picture where that leaves it its part.

    Elsewhere, and beside details, it takes the lower part of the form's side. It is narrower
    beside a folded side.
    """

    def __init__(self, drawer: QueueDrawer, places: QWidget, create: CreatePage) -> None:
        super().__init__(drawer)
        self._drawer, self._places, self._create = drawer, places, create
        self._sides, self._pictures = create.sides, create.canvas.pictures
        for widget in (places, create, self._sides.side, self._pictures, drawer):
            widget.installEventFilter(self)
        self._put()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the page, its side and its picture."""
        if event.type() in _MOVING and (watched is not self._drawer or _comes_or_goes(event)):
            self._put()
        return False

    @property
    def in_side(self) -> bool:
        """True where the drawer belongs below the form."""
        side = self._sides.side
        return (
            self._create.isVisibleTo(self._places)
            and not self._sides.is_folded
            and side.height() >= _LEAST_HEIGHT + _LEAST_FORM
            and (self._room < QUEUE_LEAST or self._covers_details)
        )

    @property
    def _covers_details(self) -> bool:
        """True where the drawer at the trailing side would hide what tells of the picture."""
        canvas = self._create.canvas
        return canvas.isAncestorOf(canvas.details) and canvas.details.isVisibleTo(canvas)

    def _put(self) -> None:
        shown = not self._drawer.isHidden()
        in_side = shown and self.in_side
        place = self._lower_part if in_side else self._trailing
        self._sides.lend(place.height() if in_side else 0)
        self._drawer.setGeometry(place)
        covered = place & self._place_of(self._pictures) if shown and not in_side else QRect()
        beside = max(0, covered.width())
        at_left = self._places.isRightToLeft()
        # The room of pictures keeps its size, which decides all this; they lie in what is seen.
        self._pictures.setContentsMargins(beside if at_left else 0, 0, 0 if at_left else beside, 0)

    @property
    def _lower_part(self) -> QRect:
        place = self._place_of(self._sides.side)
        beside = min(place.height() - _FORM_TO_PROMPT, _WANTED_HEIGHT)
        height = max(_LEAST_HEIGHT, place.height() // 2, beside)
        place.setTop(place.bottom() + 1 - height)
        return place

    @property
    def _trailing(self) -> QRect:
        places = self._places
        widest = min(QUEUE_WIDTH, places.width())
        width, height = widest, places.height()
        if self._create.isVisibleTo(places):
            width = min(max(self._room, QUEUE_LEAST), widest)
            # What can be done with the picture stays in reach below.
            height = self._place_of(self._pictures).bottom() + 1
        left = 0 if places.isRightToLeft() else places.width() - width
        return QRect(left, 0, width, height)

    @property
    def _room(self) -> int:
        """The width at the trailing side that leaves the picture its part, in pixels."""
        window, picture = self._places.window(), self._place_of(self._pictures)
        needed = LEAST_SHARE * window.width() * window.height() / max(1, picture.height())
        if self._places.isRightToLeft():
            return int(picture.right() + 1 - needed)
        return int(self._places.width() - picture.left() - needed)

    def _place_of(self, widget: QWidget) -> QRect:
        return QRect(widget.mapTo(self._places, QPoint(0, 0)), widget.size())


def _comes_or_goes(event: QEvent) -> bool:
    return event.type() in (QEvent.Type.Show, QEvent.Type.Hide)
