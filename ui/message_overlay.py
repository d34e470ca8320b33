"""The place of messages: over the bottom of the page, so that no picture is made smaller."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.panels.notice_panel import NoticePanel
from ui.panels.offer_bar import OfferBar
from ui.theme.metrics import MESSAGE_WIDTH, M, S


class MessageOverlay(QWidget):
    """A column of cards over `covered`, in the middle of the room that is left for it."""

    def __init__(
        self,
        covered: QWidget,
        offer: OfferBar,
        notices: NoticePanel,
        room: Callable[[], QRect],
    ) -> None:
        """`room` returns the part of `covered` that messages may lie over."""
        super().__init__(covered)
        self._room, self._covered = room, covered
        self._offer, self._notices = offer, notices
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(offer)
        column.addWidget(notices)
        notices.changed.connect(self.put)
        covered.installEventFilter(self)
        offer.installEventFilter(self)
        self.put()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the size of what is covered, and the offer, which comes and goes."""
        if event.type() in (
            QEvent.Type.Resize,
            QEvent.Type.ShowToParent,
            QEvent.Type.HideToParent,
        ):
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
        room, covered = self._room(), self._covered
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
        self.setGeometry(place)
        self.raise_()
