"""A list of cards in the form, as of LoRAs, layers or passes, with the button that adds one."""

from typing import Generic, TypeVar

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from ui.theme.metrics import S
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label
from ui.widgets.tab_order import is_reached, put_after


class ListedCard(QFrame):
    """A card of a list; its button `remove` takes it out of the list."""

    removed = Signal()
    # There are other controls now.
    controls_changed = Signal()
    remove: IconButton

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        raise NotImplementedError


CardT = TypeVar("CardT", bound=ListedCard)


class CardList(QWidget, Generic[CardT]):
    """A heading, a card for each entry, and a button to add one; without entries, only this.

    A list of a kind says in `make_card` how a card is made, and in `_refresh` what cards show.
    """

    # Emits a card that should be seen, once it is laid out.
    revealed = Signal(QWidget)

    def __init__(self, gap: int = S) -> None:
        """`gap` is the room between cards."""
        super().__init__()
        self.cards: list[CardT] = []
        self.heading = plain_label("", "label")
        self.add = QPushButton()
        self.add.setProperty("role", "link")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(S)
        self._column.addWidget(self.heading)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(gap)
        self._column.addLayout(self._cards)
        self._column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)

    def make_card(self, at: int) -> CardT:
        """Return a new card for a place in the list, connected to what acts on this place."""
        raise NotImplementedError

    def _refresh(self, *_: object) -> None:
        """Show the entries by `show_count` and by the cards that there are by then."""
        raise NotImplementedError

    def reveal(self, at: int) -> None:
        """Have the card at a place seen; one that will be there in a moment, too."""

        def reveal() -> None:
            if at < len(self.cards):
                self.revealed.emit(self.cards[at])

        QTimer.singleShot(0, self, reveal)

    def put_below(self, *widgets: QWidget) -> None:
        """Lay widgets out between the cards and the button."""
        for widget in widgets:
            self._column.insertWidget(self._column.indexOf(self.add), widget)

    def show_count(self, count: int) -> None:
        """Drop the cards above so many, or make one that lacks; further ones follow by `_refresh`.

        The focus of a dropped card stays here. Call it before the list itself is hidden, which
        would end what is typed in a card that goes.
        """
        focused = self.focusWidget()
        lost = self.cards[count:]
        # Qt has none where nothing in the list has the focus.
        had_focus = bool(focused) and any(card.isAncestorOf(focused) for card in lost)
        while len(self.cards) > count:
            card = self.cards.pop()
            # A number that is being typed would be told as it loses the focus, of another entry.
            card.blockSignals(True)
            card.hide()
            card.deleteLater()
        if len(self.cards) < count:
            card = self.make_card(len(self.cards))
            self._cards.addWidget(card)
            # Qt would show it only later, after what is done with it now.
            card.show()
            self.cards.append(card)
        if len(self.cards) < count:
            # A card takes as long as the window may stand still.
            QTimer.singleShot(0, self, self._refresh)
        if had_focus:
            (self.cards[-1].remove if self.cards else self.add).setFocus()

    def order_controls(self, *below: QWidget) -> None:
        """Have the tab key lead to the controls where they are seen.

        `below` are controls between the cards and the button.
        """
        controls = (control for card in self.cards for control in card.controls)
        put_after(self._control_above(), (*controls, *below, self.add))

    def _control_above(self) -> QWidget | None:
        """Return the control before the list in the order of the tab key; None without one."""
        window, above = self.window(), self.heading.previousInFocusChain()
        while above is not None and above is not window and above is not self.heading:
            if is_reached(above) and not self.isAncestorOf(above):
                return above
            above = above.previousInFocusChain()
        return None
