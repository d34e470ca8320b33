"""A card about what a link leads to: licence, size, hash and hosts, before anything comes."""

from pathlib import Path

from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.commands.getting import Offer
from app.downloads.model_pages import OfferedFile
from app.session import Session
from engine.api.model_files import ModelKind
from ui.labels import file_size
from ui.model_labels import kind_label
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.filled_button import FilledButton
from ui.widgets.labels import breakable, buddy_label, plain_label

_KINDS = (
    ModelKind.CHECKPOINT,
    ModelKind.LORA,
    ModelKind.EMBEDDING,
    ModelKind.VAE,
    ModelKind.TEXT_ENCODER,
    ModelKind.CONTROLNET,
    ModelKind.UPSCALER,
)
# Smaller files of an unknown kind are rather LoRAs than models.
_LORA_BYTES = 900_000_000


class OfferCard(QFrame):
    """A card that names everything a person agrees to by pressing its button."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self._offer: Offer | None = None
        # The offer, and the kind, whose place is shown.
        self._placed: tuple[Offer, ModelKind] | None = None
        self.setProperty("role", "card")
        self.title = plain_label("", "heading", wrap=True)
        self.files, self.kinds = ChoiceBox(theme, of_files=True), ChoiceBox(theme)
        self.licence, self.weight, self.hash, self.hosts, self.place = (
            plain_label("", wrap=True) for _ in range(5)
        )
        self._files_label = buddy_label(self.tr("File"), self.files)
        self.get = FilledButton()
        self.drop = QPushButton(self.tr("Not now"))
        for kind in _KINDS:
            self.kinds.addItem(kind_label(kind), kind.value)
        self._lay_out()
        self.files.activated.connect(session.models.getting.choose)
        self.kinds.activated.connect(self._show_place)
        self.get.clicked.connect(self._download)
        self.drop.clicked.connect(session.models.getting.cancel)
        self.hide()

    @property
    def kind(self) -> ModelKind:
        """The kind as which the file is kept."""
        return ModelKind(self.kinds.currentData())

    def show_offer(self, offer: Offer | None) -> None:
        """Show an offer; None hides the card."""
        is_new = offer is not None and (self._offer is None or self._offer.page != offer.page)
        self._offer = offer
        self.setVisible(offer is not None and self.parentWidget() is not None)
        if offer is None:
            self._placed = None
            return
        page, file = offer.page, offer.file
        self.title.setText(breakable(page.title))
        self.files.clear()
        for offered in page.files:
            self.files.addItem(_file_words(offered))
        self.files.setCurrentIndex(offer.chosen)
        for part in (self.files, self._files_label):
            part.setVisible(len(page.files) > 1)
        if is_new:
            self.kinds.setCurrentIndex(max(0, self.kinds.findData(_kind_of(file).value)))
        self.licence.setText(
            breakable(page.licence or self.tr("Not stated: see the page before you use it."))
        )
        self.weight.setText(file_size(file.size) if file.size else self.tr("Not stated"))
        self.hash.setText(
            breakable(
                self.tr("SHA-256 {digits}, compared when it has arrived").format(digits=file.sha256)
                if file.sha256
                else self.tr("Nobody states one: only the size can be compared.")
            )
        )
        self.hosts.setText(breakable(", ".join(offer.hosts)))
        text = self.tr("Download {size}") if file.size else self.tr("Download")
        self.get.setText(text.format(size=file_size(file.size)))
        self._show_place()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(XS)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._files_label, 0, 0)
        grid.addWidget(self.files, 0, 1)
        rows: tuple[tuple[str, QWidget], ...] = (
            (self.tr("Kind"), self.kinds),
            (self.tr("Licence"), self.licence),
            (self.tr("Size"), self.weight),
            (self.tr("Hash"), self.hash),
            (self.tr("Comes from"), self.hosts),
            (self.tr("Goes to"), self.place),
        )
        for row, (name, widget) in enumerate(rows, 1):
            grid.addWidget(buddy_label(name, widget), row, 0)
            grid.addWidget(widget, row, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        buttons.addWidget(self.get)
        buttons.addWidget(self.drop)
        buttons.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(M)
        column.addWidget(self.title)
        column.addLayout(grid)
        column.addLayout(buttons)

    def _show_place(self, *_: object) -> None:
        offer = self._offer
        if offer is None or self._placed == (offer, self.kind):
            return
        self._placed = offer, self.kind
        getting = self._session.models.getting
        self._show_path(getting.folder_of(self.kind) / offer.file.name)
        # Another file may have that name.
        getting.find_place(self.kind, self._show_path)

    def _show_path(self, path: Path) -> None:
        self.place.setText(breakable(str(path)))

    def _download(self) -> None:
        self._session.models.getting.download(self.kind)


def _kind_of(file: OfferedFile) -> ModelKind:
    """Return the kind that a page states, else the likelier one by size and name."""
    if file.kind is not ModelKind.OTHER:
        return file.kind
    name = file.name.lower()
    if "vae" in name:
        return ModelKind.VAE
    is_small = 0 < file.size < _LORA_BYTES
    return ModelKind.LORA if "lora" in name or is_small else ModelKind.CHECKPOINT


def _file_words(file: OfferedFile) -> str:
    size = file_size(file.size) if file.size else ""
    return " · ".join(filter(None, (file.name, file.about, size)))
