"""The strip that offers the best runtime for this computer, until it is answered."""

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton, QWidget

from app.commands.pack_rows import PackAction, PackRow
from app.session import Session
from ui.pack_labels import action_label, offer_sentences
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar


class OfferBar(NoticeBar):
    """A bar that is shown while `PackCommands.offer` is a pack."""

    def __init__(self, session: Session, theme: Theme, details: Callable[[str], QWidget]) -> None:
        """Create the bar; `details` opens the list of runtimes at a pack."""
        super().__init__(theme)
        self._packs, self._details = session.packs, details
        self._shown: PackRow | None = None
        self.install = self.add_button("")
        self.more: QPushButton = self.add_button(self.tr("Details…"))
        self.not_now = self.add_button(self.tr("Not now"))
        self.dismiss.hide()
        self.install.clicked.connect(self._install)
        self.more.clicked.connect(self._open)
        self.not_now.clicked.connect(self._packs.decline_offer)
        self._packs.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        offer = self._packs.offer
        if offer is not None and offer != self._shown:
            message, hint = offer_sentences(offer)
            self.tell(message, hint, failure=False)
            self.install.setText(action_label(PackAction.INSTALL, offer))
            # A licence is to be read where its link is.
            self.install.setVisible(not offer.is_proprietary)
        self._shown = offer
        self.setVisible(offer is not None)

    def _install(self) -> None:
        if self._shown is not None:
            self._packs.act(self._shown.id, PackAction.INSTALL)

    def _open(self) -> None:
        if self._shown is not None:
            self._details(self._shown.id)
