"""Cards that are shown while a file is dragged over the window."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.theme.metrics import L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label

_HEIGHT = 168
_WIDEST = 440
# The opacity of the veil over the window.
_VEIL = 215

NOTHING = QRect()

# A card's text: a title and a sentence.
Offer = tuple[str, str]


class DropOverlay(QWidget):
    """A veil over its parent with a card for each possible action of a drop.

    A part at the side may stay clear.

    The parent receives the drop itself.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._covered = parent
        self.cards: list[QFrame] = []
        self._offers: Sequence[Offer] = ()
        self.clear = NOTHING
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(L, L, L, L)
        self._row.setSpacing(M)
        self.hide()
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the parent's size."""
        if event.type() is QEvent.Type.Resize:
            self.setGeometry(self._covered.rect())
        return False

    def appear(self, offers: Sequence[Offer], clear: QRect = NOTHING) -> None:
        """Show the cards side by side, above all other widgets, and beside what stays `clear`."""
        if self.isVisible() and offers == self._offers and clear == self.clear:
            return
        self.clear = clear
        if offers != self._offers:
            self._make_cards(offers)
        self.setGeometry(self._covered.rect())
        self._lay_beside(clear)
        self.raise_()
        self.show()
        # The cards must be laid out before `chosen` looks for one.
        self._row.activate()
        self.point_at(None)

    def _make_cards(self, offers: Sequence[Offer]) -> None:
        self._offers = offers
        for card in self.cards:
            card.deleteLater()
        while self._row.takeAt(0):
            pass
        self.cards = [_card(*offer) for offer in offers]
        if len(self.cards) == 1:
            # Otherwise it would be at the side of the room that it does not fill.
            self.cards[0].setFixedWidth(_WIDEST)
        self._row.addStretch(1)
        for card in self.cards:
            self._row.addWidget(
                card, 8 if len(self.cards) > 1 else 0, Qt.AlignmentFlag.AlignVCenter
            )
        self._row.addStretch(1)

    def chosen(self, place: QPoint) -> int | None:
        """Return the index of the card at a point; None beside the cards."""
        at = (index for index, card in enumerate(self.cards) if card.geometry().contains(place))
        return next(at, None) if self.isVisible() else None

    def point_at(self, place: QPoint | None) -> None:
        """Highlight the card at a point."""
        chosen = None if place is None else self.chosen(place)
        for index, card in enumerate(self.cards):
            role = "drop" if index == chosen else "offer"
            if card.property("role") != role:
                card.setProperty("role", role)
                card.style().polish(card)

    def _lay_beside(self, clear: QRect) -> None:
        """Leave the room of what is clear, and that between it and the window's side."""
        if clear.isEmpty():
            taken = 0
        elif self.isRightToLeft():
            taken = self.width() - clear.left()
        else:
            taken = clear.right() + 1
        left, right = (0, taken) if self.isRightToLeft() else (taken, 0)
        self._row.setContentsMargins(L + left, L, L + right, L)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the veil."""
        veil = QColor(self._theme.colours.canvas)
        veil.setAlpha(_VEIL)
        with QPainter(self) as painter:
            painter.setClipRegion(QRegion(self.rect()) - QRegion(self.clear))
            painter.fillRect(self.rect(), veil)


def _card(title: str, sentence: str) -> QFrame:
    card = QFrame()
    card.setFixedHeight(_HEIGHT)
    card.setMaximumWidth(_WIDEST)
    words = QVBoxLayout(card)
    words.setContentsMargins(L, L, L, L)
    words.setSpacing(S)
    words.addStretch()
    for text, role in ((title, "title"), (sentence, "label")):
        label = plain_label(text, role, wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.addWidget(label)
    words.addStretch()
    return card
