"""The place of messages: over the bottom of the page, so that no picture is made smaller."""

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractItemView, QPushButton, QVBoxLayout, QWidget

from ui.panels.notice_panel import NoticePanel
from ui.panels.offer_bar import OfferBar
from ui.places import Places
from ui.theme.metrics import MESSAGE_WIDTH, M, S
from ui.widgets.zoom_bar import ZoomBar
from ui.widgets.zoom_view import ZoomView

# Events after which the room, or what lies beside it, may be another.
_MOVING = (
    QEvent.Type.Resize,
    QEvent.Type.Move,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.ShowToParent,
    QEvent.Type.HideToParent,
)


class MessageOverlay(QWidget):
    """A column of cards over the room that the open page lends, in its middle.

    The cards cover no control of the page, and not the drawer `beside` them. Once somebody goes on
    with the picture or the pictures below them, they fold to a button; what comes later is shown.
    """

    def __init__(
        self, places: Places, offer: OfferBar, notices: NoticePanel, beside: QWidget
    ) -> None:
        super().__init__(places)
        self._places, self._offer, self._notices, self._beside = places, offer, notices, beside
        # The room that the cards lay over last, its zooms' buttons, which the cards keep clear, and
        # what is used there with the mouse.
        self._room: QWidget | None = None
        self._zooms: list[ZoomBar] = []
        self._surfaces: list[QWidget] = []
        self.unfold = QPushButton()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(offer)
        column.addWidget(notices)
        column.addWidget(self.unfold, 0, Qt.AlignmentFlag.AlignLeading)
        notices.changed.connect(self.put)
        self.unfold.clicked.connect(self._on_unfold)
        places.opened.connect(self._put_soon)
        for widget in (places, offer, beside):
            widget.installEventFilter(self)
        self.put()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the room, the drawer, and the offer, which comes and goes."""
        if event.type() in _MOVING:
            self._put_soon()
        elif event.type() is QEvent.Type.MouseButtonPress and watched in self._surfaces:
            self._notices.fold()
        return False

    def event(self, event: QEvent) -> bool:
        """Take the size that the cards ask for."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._put()
        return done

    def put(self) -> None:
        """Lie at the bottom of the room, in its middle, as high as the cards are; folded, aside."""
        layout = self.layout()
        assert layout is not None
        # It asks for a layout, too: done at that request, the requests would never end.
        layout.invalidate()
        self._put()

    def _put_soon(self) -> None:
        """Be put before anything is painted, once for all that ask until then.

        The room, what lies in it and the drawer all move as a page is opened. Qt has one request
        for a layout wait at a time.
        """
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        # That asks only where the layout was done since the last time: not where nothing is shown.
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def _put(self) -> None:
        shown, folded = self._notices.shown, self._notices.folded
        self._notices.setVisible(shown > 0)
        self.unfold.setVisible(folded > 0)
        singular, plural = self.tr("1 message"), self.tr("{n} messages")
        self.unfold.setText(
            singular if folded == 1 else plural.format(n=QLocale().toString(folded))
        )
        is_empty = not shown and not folded and self._offer.isHidden()
        self.setVisible(not is_empty)
        if is_empty:
            return
        room, covered = self._free_room(), self._places
        layout = self.layout()
        assert layout is not None
        is_button = self._offer.isHidden() and not shown
        widest = self.unfold.sizeHint().width() if is_button else MESSAGE_WIDTH
        width = max(min(widest, room.width() - 2 * M), layout.minimumSize().width())
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else -1
        height = min(max(height, layout.minimumSize().height()), room.height() - M)
        place = QRect(0, 0, width, height)
        place.moveCenter(room.center())
        place.moveBottom(room.bottom() - M)
        if is_button:
            # In the corner where no zoom is, clear of the handles of a canvas that grows.
            place.moveLeft(room.right() - M - width if self.isRightToLeft() else room.left() + M)
        # In a small window the buttons need more than the room.
        place.moveLeft(max(0, min(place.left(), covered.width() - width)))
        self.setGeometry(self._above_zoom(place))
        self.raise_()

    def _on_unfold(self) -> None:
        """Show the messages, the newest with the focus, so that it stays while it is read."""
        self._notices.unfold()
        if self._notices.cards:
            self._notices.cards[-1].dismiss.setFocus()

    def _free_room(self) -> QRect:
        """Return the part of the places that the cards may cover."""
        shown = self._places.room_for_messages
        self._follow(shown)
        room = self._place_of(shown)
        beside = self._beside.geometry()
        if not self._beside.isHidden() and beside.intersects(room):
            if self.isRightToLeft():
                room.setLeft(max(room.left(), beside.right()))
            else:
                room.setRight(min(room.right(), beside.left()))
        return room

    def _follow(self, room: QWidget) -> None:
        """Have the events of this room, and no more those of the one before.

        Its zooms are looked for each time: each comparison has one of its own.
        """
        if room is not self._room and self._room is not None:
            for widget in (self._room, *_surfaces(self._room), *self._room.findChildren(ZoomBar)):
                widget.removeEventFilter(self)
        self._room, self._zooms = room, room.findChildren(ZoomBar)
        self._surfaces = _surfaces(room)
        for widget in (room, *self._surfaces, *self._zooms):
            widget.installEventFilter(self)

    def _above_zoom(self, place: QRect) -> QRect:
        """Return the place above the buttons of the zoom, where it would cover them."""
        for bar in self._zooms:
            buttons = self._place_of(bar)
            if bar.isVisible() and place.intersects(buttons):
                return place.translated(0, buttons.top() - S - place.bottom())
        return place

    def _place_of(self, widget: QWidget) -> QRect:
        return QRect(widget.mapTo(self._places, QPoint(0, 0)), widget.size())


def _surfaces(room: QWidget) -> list[QWidget]:
    """Return the pictures and lists of pictures in a room."""
    lists = [view.viewport() for view in room.findChildren(QAbstractItemView)]
    return [*room.findChildren(ZoomView), *lists]
