"""One embedding that a prompt names: its picture, its facts, its weight and its prompt."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.form.embedding_list import EmbeddingRow
from ui.embedding_labels import embedding_reason, embedding_summary
from ui.panels.card_list import ListedCard
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, breakable, plain_label
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField
from ui.widgets.thumbnail_view import ThumbnailView

SIDE = 40
# The range of the slider; the field accepts more.
_USUAL = (0, 2)
_MOST, _STEP = 10, 0.05


class EmbeddingRowPanel(ListedCard):
    """A card of an embedding; it emits the user's changes and shows what it is told."""

    # Emits a float.
    weighed = Signal(object)
    moved = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.thumbnail = ThumbnailView(theme, SIDE)
        self.name, self.about = ElidedLabel(), ElidedLabel("caption")
        self.move_it = QPushButton()
        self.move_it.setProperty("role", "link")
        self.remove = IconButton(theme, "close", self.tr("Remove"))
        self.reason = plain_label("", "note", wrap=True)
        self.strength = SliderField(self.tr("Strength"), DecimalField(0, _MOST, step=_STEP), _USUAL)
        self.strength.slider.setToolTip(self.tr("Double-click for 1"))
        self._shown: EmbeddingRow | None = None
        self._lay_out()
        self.strength.edited.connect(self.weighed)
        self.strength.reset.connect(lambda: self.weighed.emit(1.0))
        self.move_it.clicked.connect(self.moved)
        self.remove.clicked.connect(self.removed)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        return self.move_it, self.remove, self.strength.slider, self.strength.field

    def show_row(self, row: EmbeddingRow) -> None:
        """Show an embedding."""
        if row == self._shown:
            return
        self._shown = row
        self.name.setText(row.name)
        self.about.setText(embedding_summary(row.info))
        place = self.tr("in the negative prompt") if row.is_negative else self.tr("in the prompt")
        to = self.tr("Use in the prompt") if row.is_negative else self.tr("Use as negative")
        self.move_it.setText(to)
        self.setAccessibleName(f"{row.name}, {place}")
        for control, words in (
            (self.move_it, to),
            (self.remove, self.tr("Remove")),
            (self.strength.field, self.tr("Strength")),
            (self.strength.slider, self.tr("Strength, slider")),
        ):
            control.setAccessibleName(f"{words}: {row.name}")
        reason = embedding_reason(row.info, row.fit)
        self.reason.setText(breakable(reason))
        self.reason.setVisible(bool(reason))
        self.strength.setVisible(row.weight is not None)
        self.strength.show_value(1.0 if row.weight is None else row.weight)

    def show_picture(self, picture: QImage | None) -> None:
        """Show the picture beside the file, or none."""
        self.thumbnail.show_layers(*([] if picture is None else [picture]))

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(S)
        line.addWidget(self.name, 1)
        line.addWidget(self.move_it)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addStretch()
        words.addLayout(line)
        words.addWidget(self.about)
        words.addStretch()
        head = QHBoxLayout()
        head.setSpacing(S)
        head.addWidget(self.thumbnail)
        head.addLayout(words, 1)
        head.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(head)
        column.addWidget(self.reason)
        column.addWidget(self.strength)
        column.setAlignment(Qt.AlignmentFlag.AlignTop)
