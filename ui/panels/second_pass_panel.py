"""The second passes of the form ("hires fix"): a card for each, and a way to add one."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.form.generation import EFFECTIVE_FIELDS
from app.form.used_passes import lacks_passes, paints_a_part
from app.session import Session
from engine.api.features import OptionalSetting
from engine.api.second_passes import SecondPass, needs_file
from ui.panels.card_list import CardList
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label

if TYPE_CHECKING:
    from ui.panels.second_pass_card import SecondPassCard

_SHOWN = EFFECTIVE_FIELDS | {"second_passes", "checkpoint"}


class SecondPassPanel(CardList["SecondPassCard"]):
    """A card for each second pass of the form."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.heading.setText(self.tr("Enlarge and redraw"))
        self.left_out = plain_label("", "note", wrap=True)
        self.put_below(self.left_out)
        self._session, self._theme, self._state = session, theme, session.generation
        self.add.clicked.connect(self._on_add)
        self._state.changed.connect(self._on_form)
        session.second_pass.shown.connect(self.reveal)
        session.picture_time.changed.connect(self._refresh)
        session.models.store.changed.connect(self._refresh)
        session.models.moved.changed.connect(self._refresh)
        session.checkpoints.changed.connect(self._refresh)
        self._refresh()

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _SHOWN:
            self._refresh()

    def _on_add(self) -> None:
        # The user's upscalers are among them.
        self._session.models.store.list_once()
        self._session.second_pass.add()

    def _refresh(self, *_: object) -> None:
        passes, known = self._state.second_passes, self._state.suggestions
        offered = OptionalSetting.SECOND_PASSES in known.features.options
        self.show_count(len(passes))
        self.setVisible(bool(passes) or offered)
        self.left_out.setText(self._why_left_out() if passes else "")
        self.left_out.setVisible(bool(self.left_out.text()))
        if self.cards:
            self._show_passes(passes)
        self.heading.setVisible(bool(passes))
        may_add = offered or not known.knows_features
        self.add.setVisible(may_add and self._session.second_pass.has_room)
        self.add.setText(
            self.tr("Enlarge it once more…")
            if passes
            else self.tr("Enlarge: redraw the picture larger (hires fix)…")
        )
        self.order_controls()

    def _why_left_out(self) -> str:
        """Return why the next picture has no second pass; empty if it has those of the form."""
        if paints_a_part(self._state):
            return self.tr("Left out while a part of a picture is painted: enlarge the result.")
        if lacks_passes(self._state):
            return self.tr(
                "Left out, as this model draws no picture twice: choose another one for the pass, "
                "under More."
            )
        return ""

    def _show_passes(self, passes: Sequence[SecondPass]) -> None:
        # Here, as the window starts sooner without the tools' rules for sizes.
        from app.form.second_pass_sizes import pass_sizes

        if any(_states_file(second) for second in passes):
            self._session.models.store.list_once()
        sizes, is_used = pass_sizes(self._state), not self.left_out.text()
        for at, card in enumerate(self.cards):
            card.show_pass(passes[at], sizes[at], sizes[at + 1], is_used=is_used)

    def make_card(self, at: int) -> "SecondPassCard":
        """Return a card that changes the pass at a place."""
        # Here, as the window starts sooner without the cards.
        from ui.panels.second_pass_card import SecondPassCard

        card = SecondPassCard(self._session, self._theme)
        card.changed.connect(partial(self._session.second_pass.change, at))
        card.removed.connect(partial(self._session.second_pass.remove, at))
        card.controls_changed.connect(self.order_controls)
        return card


def _states_file(shown: SecondPass) -> bool:
    """Return True for a pass with a file that may be missing."""
    return shown.checkpoint is not None or needs_file(shown)
