"""Where to get more models: a link, what it leads to, downloads, and some to begin with."""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.commands.getting import Stage
from app.downloads.links import is_unencrypted, read_link
from app.library.first_models import first_models, ranked
from app.notices.wording import worded_both
from app.session import Session
from ui.download_labels import only_asked
from ui.models.first_card import FirstCard
from ui.models.offer_card import OfferCard
from ui.models.site_key import SiteKeyRow
from ui.panels.download_row import DownloadRow
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label
from ui.widgets.line_field import LineField
from ui.widgets.scroll_area import scroll_area

_WIDTH = 760


class GetModels(QWidget):
    """A field for a link, and below it whatever belongs to getting a model."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.link = LineField()
        self.ask = QPushButton(self.tr("Look it up"))
        self.state = plain_label("", "caption", wrap=True)
        self.offer = OfferCard(session, theme)
        self.key = SiteKeyRow(session)
        self.rows: dict[str, DownloadRow] = {}
        self._rows = QVBoxLayout()
        self.first: list[FirstCard] = []
        self._first = QVBoxLayout()
        self._lay_out()
        self._connect()
        self._show()
        self._show_downloads()
        self._show_first()

    def look_up(self, text: str) -> None:
        """Put a link into the field and ask its host what it leads to."""
        self.link.setText(text)
        self._ask()

    def _lay_out(self) -> None:
        self.link.setPlaceholderText("https://civitai.com/models/… · https://huggingface.co/…")
        self.link.setFixedHeight(CONTROL_HEIGHT)
        self.link.setClearButtonEnabled(True)
        self.link.setAccessibleName(self.tr("Link to a model"))
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self.link, 1)
        row.addWidget(self.ask)
        for rows in (self._rows, self._first):
            rows.setSpacing(S)
        content = QWidget()
        content.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(content)
        column.setContentsMargins(L, M, L, L)
        column.setSpacing(S)
        column.addWidget(plain_label(self.tr("From a link"), "heading"))
        column.addLayout(row)
        for widget in (self.state, self.key, self.offer):
            column.addWidget(widget)
        column.addLayout(self._rows)
        column.addSpacing(L)
        column.addWidget(plain_label(self.tr("Good ones to begin with"), "heading"))
        sizes = self.tr("The site says the exact size before anything is downloaded.")
        column.addWidget(plain_label(sizes, "label", wrap=True))
        column.addLayout(self._first)
        column.addStretch()
        area = scroll_area(self.tr("Get models"))
        area.setWidget(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _connect(self) -> None:
        session = self._session
        self.link.textChanged.connect(self._show)
        self.link.returnPressed.connect(self._ask)
        self.ask.clicked.connect(self._ask)
        session.models.getting.changed.connect(self._show)
        session.downloads.changed.connect(self._show_downloads)
        session.downloads.removed.connect(self._show_downloads)
        session.devices.machine_changed.connect(self._show_first)
        session.devices.devices_changed.connect(self._show_first)
        session.checkpoints.families_changed.connect(self._show_first)
        session.pace.changed.connect(self._show_first)

    def _ask(self) -> None:
        if self._session.models.getting.stage is Stage.ASKING:
            self._session.models.getting.cancel()
        else:
            self._session.models.getting.look_up(self.link.text())

    def _show(self, *_: object) -> None:
        getting = self._session.models.getting
        link = read_link(self.link.text()) if self.link.text().strip() else None
        is_asking = getting.stage is Stage.ASKING
        self.ask.setText(self.tr("Stop") if is_asking else self.tr("Look it up"))
        self.ask.setEnabled(is_asking or link is not None)
        self.state.setText(breakable(self._words(link.host if link else "")))
        problem = getting.problem
        role = "error" if getting.stage is Stage.FAILED else "caption"
        if self.state.property("role") != role:
            self.state.setProperty("role", role)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)
        self.key.show_host(problem.host if problem is not None and getting.wants_key else "")
        self.offer.show_offer(getting.offer if getting.stage is Stage.OFFERED else None)

    def _words(self, host: str) -> str:
        getting = self._session.models.getting
        problem = getting.problem
        if getting.stage is Stage.ASKING:
            return self.tr("Asking {host}…").format(host=host)
        if getting.stage is Stage.FAILED and problem is not None:
            if getting.wants_key:
                return self.tr(
                    "{host} gives this only to people who have signed in, or who have agreed to "
                    "its terms there."
                ).format(host=problem.host)
            return worded_both(problem.text, problem.advice)
        if host:
            return only_asked(host)
        if is_unencrypted(self.link.text()):
            return self.tr(
                "What comes from an address with http:// is not encrypted: it could be another "
                "file. Use one with https://, or copy the file into your folder of models yourself."
            )
        if self.link.text().strip():
            return self.tr(
                "This is no link to a model: copy the address of its page from your web browser."
            )
        return self.tr(
            "Paste or drop the address of a model's page on Civitai or Hugging Face, or of a file. "
            "Nothing is asked before you press the button."
        )

    def _show_downloads(self, *_: object) -> None:
        entries = {entry.id: entry for entry in self._session.models.getting.entries}
        for name in self.rows.keys() - entries.keys():
            row = self.rows.pop(name)
            row.hide()
            row.deleteLater()
        for name, entry in entries.items():
            if name in self.rows:
                self.rows[name].show_download(entry)
            else:
                self.rows[name] = DownloadRow(self._theme, entry, self._session.downloads)
                self._rows.addWidget(self.rows[name])

    def _show_first(self, *_: object) -> None:
        machine = self._session.devices.machine
        memory = machine.memory_total_bytes if machine is not None else 0
        for card in self.first:
            card.hide()
            card.deleteLater()
        self.first = [
            FirstCard(self._session, model, fits=model.fits(memory))
            for model in ranked(first_models(), memory)
        ]
        for card in self.first:
            card.wanted.connect(self.look_up)
            self._first.addWidget(card)
