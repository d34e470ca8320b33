"""The card of an image prompt: its picture, the adapter that reads it, and where it acts."""

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.form.layer_list import LayerList, LayerRow
from app.session import Session
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from ui.layer_labels import blocks_words, combination_words, encoder_words, scaling_words
from ui.listed_files import encoder_files
from ui.panels.choice_row import ChoiceRow
from ui.panels.file_choice import FileChoice
from ui.panels.labelled_row import LabelledRow
from ui.panels.layer_card import LayerCard
from ui.panels.path_row import PathRow
from ui.theme.theme import Theme
from ui.widgets.labels import align, breakable, plain_label


class ImagePromptCard(LayerCard):
    """An image prompt of the form."""

    def __init__(self, session: Session, layers: LayerList, theme: Theme) -> None:
        super().__init__(session, layers, theme)
        self._adapter = LabelledRow(self.tr("Adapter"), self.file)
        self.encoder = FileChoice(theme)
        self._encoder = LabelledRow(self.tr("Encoder"), self.encoder)
        self.no_encoder = plain_label("", "note", wrap=True)
        blocks = [(choice, *blocks_words(choice)) for choice in AdapterBlocks]
        self.blocks = ChoiceRow(theme, self.tr("It gives"), blocks, partial(self.change, "blocks"))
        scalings = [(choice, *scaling_words(choice)) for choice in AdapterScaling]
        self.scaling = ChoiceRow(
            theme, self.tr("Weight on"), scalings, partial(self.change, "scaling")
        )
        self.further = PathRow(theme, self.tr("Seen with"), self.tr("No other picture"))
        ways = [(choice, *combination_words(choice)) for choice in PictureCombination]
        self.combination = ChoiceRow(
            theme, self.tr("Joined by"), ways, partial(self.change, "combination")
        )
        self.area = PathRow(theme, self.tr("Only within"), self.tr("The whole picture"))
        self._lay_out()
        self._connect_own()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows, to be aligned with each other."""
        own = self._adapter, self._encoder, self.blocks, self.scaling
        pictures = self.further, self.combination, self.area
        return [*super().labels, *(row.label for row in (*own, *pictures))]

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        *head, file, weight, field, start, end = super().controls
        bars, area, further = (weight, field, start, end), self.area, self.further
        acts = self.blocks.box, self.scaling.box
        pictures = further.drop, further.choose, self.combination.box
        return (*head, file, self.encoder, *bars, *acts, *pictures, area.drop, area.choose)

    def show_row(self, row: LayerRow) -> None:
        """Show an image prompt."""
        super().show_row(row)
        layer = row.layer
        assert isinstance(layer, ImagePrompt)
        session, chosen = self._session, layer.encoder
        models = session.models.store.models
        self.encoder.show_files(lambda: encoder_files(session, chosen), chosen, models, chosen)
        words = encoder_words(self._session, layer)
        self.no_encoder.setText(breakable(words))
        self.no_encoder.setVisible(bool(words))
        self.blocks.show_value(layer.blocks)
        self.scaling.show_value(layer.scaling)
        self.further.show_file(", ".join(Path(path).name for path in layer.further) or None)
        self.combination.show_value(layer.combination)
        self.combination.setVisible(bool(layer.further))
        self.area.show_file(layer.mask)

    def _lay_out(self) -> None:
        beside = QWidget()
        column = QVBoxLayout(beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.picture)
        bars = self.weight, self.range, self.blocks, self.scaling
        pictures = self.further, self.combination, self.area
        self.lay_out(beside, self._adapter, self._encoder, self.no_encoder, *bars, *pictures)
        align(self.labels)

    def _connect_own(self) -> None:
        self.encoder.wants_file.connect(lambda: self.wants_path.emit("encoder"))
        self.encoder.picked.connect(partial(self.change, "encoder"))
        self.further.wants_file.connect(lambda: self.wants_path.emit("further"))
        self.further.dropped.connect(partial(self.change, "further", ()))
        self.area.wants_file.connect(lambda: self.wants_path.emit("mask"))
        self.area.dropped.connect(partial(self.change, "mask", None))
