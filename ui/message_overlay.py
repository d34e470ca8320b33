"""The place of messages: over the bottom of the page, so that no picture is made smaller."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.panels.notice_panel import NoticePanel
from ui.panels.offer_bar import OfferBar
from ui.places import Places
from ui.theme.metrics import MESSAGE_WIDTH, M, S
from ui.widgets.zoom_bar import ZoomBar

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

    The cards cover no control of the page, and not the drawer `beside` them.
    """

    def __init__(
        self, places: Places, offer: OfferBar, notices: NoticePanel, beside: QWidget
    ) -> None:
        super().__init__(places)
        self._places, self._offer, self._notices, self._beside = places, offer, notices, beside
        # The room that the cards lay over last, and its zooms' buttons, which the cards keep clear.
        self._room: QWidget | None = None
        self._zooms: list[ZoomBar] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(offer)
        column.addWidget(notices)
        notices.changed.connect(self.put)
        places.opened.connect(self.put)
        for widget in (places, offer, beside):
            widget.installEventFilter(self)
        self.put()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the room, the drawer, and the offer, which comes and goes."""
        if event.type() in _MOVING:
            self.put()
        return False

    def event(self, event: QEvent) -> bool:
        """Take the size that the cards ask for."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._put()
        return done

    def put(self) -> None:
        """Lie at the bottom of the room, in its middle, as high as the cards are."""
        layout = self.layout()
        assert layout is not None
        # It asks for a layout, too: done at that request, the requests would never end.
        layout.invalidate()
        self._put()

    def _put(self) -> None:
        self._notices.setVisible(not self._notices.is_empty)
        is_empty = self._notices.is_empty and self._offer.isHidden()
        self.setVisible(not is_empty)
        if is_empty:
            return
        room, covered = self._free_room(), self._places
        layout = self.layout()
        assert layout is not None
        width = max(min(MESSAGE_WIDTH, room.width() - 2 * M), layout.minimumSize().width())
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else -1
        height = min(max(height, layout.minimumSize().height()), room.height() - M)
        place = QRect(0, 0, width, height)
        place.moveCenter(room.center())
        place.moveBottom(room.bottom() - M)
        # In a small window the buttons need more than the room.
        place.moveLeft(max(0, min(place.left(), covered.width() - width)))
        self.setGeometry(self._above_zoom(place))
        self.raise_()

    def _free_room(self) -> QRect:
        """Return the part of the places that the cards may cover."""
        shown = self._places.room_for_messages
        self._follow(shown)
        room = self._place_of(shown)
        if not self._beside.isHidden():
            beside = self._beside.geometry()
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
            for widget in (self._room, *self._room.findChildren(ZoomBar)):
                widget.removeEventFilter(self)
        self._room, self._zooms = room, room.findChildren(ZoomBar)
        for widget in (room, *self._zooms):
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
