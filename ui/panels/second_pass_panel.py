"""The second passes of the form ("hires fix"): a card for each, and a way to add one."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.form.generation import EFFECTIVE_FIELDS
from app.session import Session
from engine.api.features import OptionalSetting
from engine.api.second_passes import SecondPass
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label

if TYPE_CHECKING:
    from ui.panels.second_pass_card import SecondPassCard

_SHOWN = EFFECTIVE_FIELDS | {"second_passes", "checkpoint"}


class SecondPassPanel(QWidget):
    """A heading with a card for each second pass; without any, only the button to add one."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme, self._state = session, theme, session.generation
        self.cards: list[SecondPassCard] = []
        self.heading = plain_label(self.tr("Enlarge and redraw"), "label")
        self.add = QPushButton()
        self.add.setProperty("role", "link")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.heading)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(S)
        column.addLayout(self._cards)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)
        self.add.clicked.connect(self._on_add)
        self._state.changed.connect(self._on_form)
        session.picture_time.changed.connect(self._refresh)
        session.models.store.changed.connect(self._refresh)
        self._refresh()

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _SHOWN:
            self._refresh()

    def _on_add(self) -> None:
        # The user's upscalers are among them.
        self._session.models.store.list_once()
        self._session.second_pass.add()

    def _refresh(self) -> None:
        passes = self._state.second_passes
        offered = OptionalSetting.SECOND_PASSES in self._state.suggestions.features.options
        self.setVisible(bool(passes) or offered)
        self._make_cards(len(passes))
        if self.cards:
            self._show_passes(passes)
        self.heading.setVisible(bool(passes))
        self.add.setVisible(self._session.second_pass.has_room)
        self.add.setText(
            self.tr("Enlarge it once more…")
            if passes
            else self.tr("Enlarge: redraw the picture larger (hires fix)…")
        )
        self._order_controls()

    def _show_passes(self, passes: Sequence[SecondPass]) -> None:
        # Here, as the window starts sooner without the tools' rules for sizes.
        from app.form.second_pass_sizes import pass_sizes

        sizes = pass_sizes(self._state)
        for at, card in enumerate(self.cards):
            card.show_pass(passes[at], sizes[at], sizes[at + 1])

    def _make_cards(self, count: int) -> None:
        focused = self.focusWidget()
        lost = self.cards[count:]
        # Qt has none where nothing in the panel has the focus.
        had_focus = bool(focused) and any(card.isAncestorOf(focused) for card in lost)
        while len(self.cards) > count:
            card = self.cards.pop()
            card.hide()
            card.deleteLater()
        while len(self.cards) < count:
            # Here, as the window starts sooner without the cards.
            from ui.panels.second_pass_card import SecondPassCard

            card = SecondPassCard(self._session, self._theme)
            self._cards.addWidget(card)
            # Qt would show it only later, after what is done with it now.
            card.show()
            card.changed.connect(partial(self._session.second_pass.change, len(self.cards)))
            card.removed.connect(partial(self._session.second_pass.remove, len(self.cards)))
            self.cards.append(card)
        if had_focus:
            (self.cards[-1].remove if self.cards else self.add).setFocus()

    def _order_controls(self) -> None:
        """Put new controls where they are seen; Qt has them after all others of the window."""
        controls = [control for card in self.cards for control in card.controls]
        for before, control in zip(controls, [*controls[1:], self.add], strict=False):
            self.setTabOrder(before, control)
