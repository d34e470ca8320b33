"""The choice of the size that a picture is made larger to."""

from enum import Enum, auto

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from engine.api.fields import bounds_of
from engine.api.upscaling import UpscaleRequest
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import plain_label
from ui.widgets.number_field import WholeField


class _Kind(Enum):
    """The kinds of sizes."""

    TWICE = auto()
    FOUR = auto()
    LONGEST = auto()
    EXACT = auto()


_USUAL = 2048


class UpscaleSize(msgspec.Struct, frozen=True):
    """The fields of a request that say the size."""

    scale: float | None = None
    longest: int | None = None
    width: int | None = None
    height: int | None = None


class SizeChoice(QWidget):
    """A box with the kinds of sizes, and the fields for those with numbers."""

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.kinds = ChoiceBox(theme)
        self.kinds.setAccessibleName(self.tr("Size"))
        for text, kind, about in (
            (self.tr("2 times"), _Kind.TWICE, self.tr("Each side twice as long.")),
            (self.tr("4 times"), _Kind.FOUR, self.tr("Each side four times as long.")),
            (self.tr("Longest side"), _Kind.LONGEST, self.tr("The other side follows.")),
            (self.tr("Width and height"), _Kind.EXACT, self.tr("Another shape is stretched.")),
        ):
            self.kinds.add_choice(text, kind, about)
        self.longest = self._field("longest", self.tr("Longest side in pixels"))
        self.width_field = self._field("width", self.tr("Width in pixels"))
        self.height_field = self._field("height", self.tr("Height in pixels"))
        self._by = plain_label(self.tr("by"), "caption")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.kinds, 1)
        for widget in (self.longest, self.width_field, self._by, self.height_field):
            row.addWidget(widget)
        self.kinds.currentIndexChanged.connect(self._on_kind)
        self._on_kind()

    @property
    def value(self) -> UpscaleSize:
        """The size that is chosen."""
        match self.kinds.currentData():
            case _Kind.FOUR:
                return UpscaleSize(scale=4.0)
            case _Kind.LONGEST:
                return UpscaleSize(longest=self.longest.value())
            case _Kind.EXACT:
                return UpscaleSize(width=self.width_field.value(), height=self.height_field.value())
            case _:
                return UpscaleSize(scale=2.0)

    def _field(self, name: str, spoken: str) -> WholeField:
        low, high = bounds_of(UpscaleRequest, name).whole
        field = WholeField(low, high, step=64)
        field.setValue(_USUAL)
        field.setAccessibleName(spoken)
        field.setToolTip(spoken)
        field.setKeyboardTracking(False)
        field.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        field.valueChanged.connect(self.changed)
        return field

    def _on_kind(self) -> None:
        kind = self.kinds.currentData()
        self.longest.setVisible(kind is _Kind.LONGEST)
        for widget in (self.width_field, self._by, self.height_field):
            widget.setVisible(kind is _Kind.EXACT)
        self.changed.emit()
