"""The size of the picture: four shapes to choose from, or two numbers."""

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.form.sizes import CELL
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from ui.labels import megapixels_label, size_label
from ui.theme.metrics import CONTROL_HEIGHT, ICON, XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import buddy_label, plain_label
from ui.widgets.number_field import SizedField

# The sides of presets are multiples of this, because networks are trained on multiples of 64.
_ROUND = 64
_EXPANDING = (QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


def preset_sizes(side: int) -> tuple[Size, Size, Size, Size]:
    """Return square, portrait, landscape and wide sizes for a checkpoint trained at `side`."""
    long = round(side * 1.5 / _ROUND) * _ROUND
    wide = round(side * 16 / 9 / _ROUND) * _ROUND
    return Size(side, side), Size(side, long), Size(long, side), Size(wide, side)


class SizeField(QWidget):
    """Fields for width and height, and presets.

    `edited` emits a new width and height; `adjusted` emits a typed side and the one used instead.
    """

    edited = Signal(int, int)
    adjusted = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sizes: tuple[Size, ...] = ()
        # The pixels of the picture, and the memory that it needs: words, empty while not known.
        self._pixels = self._memory = ""
        self.width_field = SizedField(*bounds_of(GenerateRequest, "width").whole, step=CELL)
        self.height_field = SizedField(*bounds_of(GenerateRequest, "height").whole, step=CELL)
        self.presets = [QPushButton() for _ in range(4)]
        self._group = QButtonGroup(self)
        self._lay_out()
        for index, button in enumerate(self.presets):
            button.clicked.connect(lambda _checked=False, index=index: self._choose(index))
        self.width_field.valueChanged.connect(self._on_typed)
        self.height_field.valueChanged.connect(self._on_typed)
        self.width_field.adjusted.connect(self.adjusted)
        self.height_field.adjusted.connect(self.adjusted)
        theme.changed.connect(self._draw)

    def set_step(self, pixels: int) -> None:
        """Restrict sides to multiples of `pixels`, or of a latent's cell if that is larger."""
        for field in (self.width_field, self.height_field):
            field.setSingleStep(max(pixels, CELL))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(XS)
        for button in self.presets:
            button.setCheckable(True)
            button.setProperty("role", "choice")
            button.setIconSize(QSize(ICON, ICON))
            button.setFixedHeight(CONTROL_HEIGHT + XS)
            button.setSizePolicy(*_EXPANDING)
            self._group.addButton(button)
            row.addWidget(button)
        swap = IconButton(self._theme, "swap", self.tr("Swap width and height"))
        swap.clicked.connect(self._swap)
        numbers = QHBoxLayout()
        numbers.setSpacing(S)
        numbers.addWidget(buddy_label(self.tr("Width"), self.width_field))
        numbers.addWidget(self.width_field, 1)
        numbers.addWidget(swap)
        numbers.addWidget(buddy_label(self.tr("Height"), self.height_field))
        numbers.addWidget(self.height_field, 1)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        head = QHBoxLayout()
        head.addWidget(plain_label(self.tr("Size"), "label"))
        head.addStretch(1)
        self.megapixels = plain_label("", "caption")
        head.addWidget(self.megapixels)
        layout.addLayout(head, 0, 0)
        layout.addLayout(row, 1, 0)
        layout.addLayout(numbers, 2, 0)

    def show_size(self, width: int, height: int, side: int) -> None:
        """Show a size, and the presets of a checkpoint trained on `side` pixels."""
        sizes = preset_sizes(side)
        if sizes != self._sizes:
            self._sizes = sizes
            self._name_presets()
            self._draw()
        self._pixels = megapixels_label(width, height)
        self._tell()
        with QSignalBlocker(self.width_field), QSignalBlocker(self.height_field):
            self.width_field.setValue(width)
            self.height_field.setValue(height)
        self._group.setExclusive(False)
        for button, size in zip(self.presets, sizes, strict=True):
            button.setChecked(size == (width, height))
        self._group.setExclusive(True)

    def show_memory(self, words: str, explanation: str) -> None:
        """Show the memory that a picture needs beside its pixels; empty words hide it."""
        self._memory = words
        self.megapixels.setToolTip(explanation)
        self._tell()

    def _tell(self) -> None:
        self.megapixels.setText(" · ".join(filter(None, (self._pixels, self._memory))))

    def _name_presets(self) -> None:
        names = (self.tr("Square"), self.tr("Portrait"), self.tr("Landscape"), self.tr("Wide"))
        for button, name, size in zip(self.presets, names, self._sizes, strict=True):
            button.setText(_ratio(size))
            label = f"{name}, {size_label(*size)}"
            button.setAccessibleName(label)
            button.setToolTip(label)

    def _draw(self) -> None:
        for button, size in zip(self.presets, self._sizes, strict=False):
            button.setIcon(_outline(size, self._theme.colours.text))

    def _choose(self, index: int) -> None:
        self.edited.emit(*self._sizes[index])

    def _swap(self) -> None:
        self.edited.emit(self.height_field.value(), self.width_field.value())

    def _on_typed(self) -> None:
        self.edited.emit(self.width_field.value(), self.height_field.value())


def _ratio(size: Size) -> str:
    """Return the nearest common aspect ratio, such as 2:3."""
    known = ((1, 1), (2, 3), (3, 2), (16, 9))
    wanted = size.width / size.height
    wide, high = min(known, key=lambda ratio: abs(ratio[0] / ratio[1] - wanted))
    return f"{wide}:{high}"


def _outline(size: Size, colour: str) -> QIcon:
    """Draw an icon of a rectangle with the shape of a size."""
    icon = QIcon()
    for ratio in (1, 2, 3):
        pixmap = QPixmap(ICON * ratio, ICON * ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        scale = (ICON - 3) * ratio / max(size)
        width, height = size.width * scale, size.height * scale
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(colour), 1.5 * ratio))
            left, top = (pixmap.width() - width) / 2, (pixmap.height() - height) / 2
            painter.drawRoundedRect(QRectF(left, top, width, height), 2 * ratio, 2 * ratio)
        pixmap.setDevicePixelRatio(ratio)
        icon.addPixmap(pixmap)
    return icon
