"""The card of an image prompt: its picture, the adapter that reads it, and where it acts."""

from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.form.layer_list import LayerList, LayerRow
from app.session import Session
from engine.api.image_prompts import AdapterBlocks, ImagePrompt
from ui.layer_labels import blocks_words, encoder_words
from ui.panels.choice_row import ChoiceRow
from ui.panels.layer_card import LayerCard
from ui.panels.path_row import PathRow
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import align, breakable, buddy_label, plain_label


class ImagePromptCard(LayerCard):
    """An image prompt of the form."""

    def __init__(self, session: Session, layers: LayerList, theme: Theme) -> None:
        super().__init__(session, layers, theme)
        self._adapter = buddy_label(self.tr("Adapter"), self.file)
        self.encoder = PathRow(theme, self.tr("Encoder"), self.tr("The fitting one"))
        self.no_encoder = plain_label("", "note", wrap=True)
        blocks = [(choice, *blocks_words(choice)) for choice in AdapterBlocks]
        self.blocks = ChoiceRow(theme, self.tr("It gives"), blocks, partial(self.change, "blocks"))
        self.area = PathRow(theme, self.tr("Only within"), self.tr("The whole picture"))
        self._lay_out()
        self._connect_own()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows, to be aligned with each other."""
        own = self._adapter, self.encoder.label, self.blocks.label, self.area.label
        return [*super().labels, *own]

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        *head, file, weight, field, start, end = super().controls
        encoder, area = self.encoder, self.area
        files = encoder.drop, encoder.choose
        bars = weight, field, start, end
        return (*head, file, *files, *bars, self.blocks.box, area.drop, area.choose)

    def show_row(self, row: LayerRow) -> None:
        """Show an image prompt."""
        super().show_row(row)
        layer = row.layer
        assert isinstance(layer, ImagePrompt)
        self.encoder.show_file(layer.encoder)
        words = encoder_words(self._session, layer)
        self.no_encoder.setText(breakable(words))
        self.no_encoder.setVisible(bool(words))
        self.blocks.show_value(layer.blocks)
        self.area.show_file(layer.mask)

    def _lay_out(self) -> None:
        adapter = QWidget()
        row = QHBoxLayout(adapter)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self._adapter)
        row.addWidget(self.file, 1)
        beside = QWidget()
        column = QVBoxLayout(beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.picture)
        bars = self.weight, self.range, self.blocks, self.area
        self.lay_out(beside, adapter, self.encoder, self.no_encoder, *bars)
        align(self.labels)

    def _connect_own(self) -> None:
        self.encoder.wants_file.connect(lambda: self.wants_path.emit("encoder"))
        self.encoder.dropped.connect(partial(self.change, "encoder", None))
        self.area.wants_file.connect(lambda: self.wants_path.emit("mask"))
        self.area.dropped.connect(partial(self.change, "mask", None))
