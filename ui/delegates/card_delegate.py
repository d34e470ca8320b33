"""The drawing of cards in a list: a picture in a rounded frame, a name and a line below it."""

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPixmap,
)
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.theme.fonts import scaled
from ui.theme.metrics import ICON, RADIUS
from ui.theme.theme import Theme
from ui.widgets.labels import PARTED
from ui.widgets.placing import covering

AnyIndex = QModelIndex | QPersistentModelIndex
# The longest text that is measured before it is cut.
_MOST_CHARACTERS = 300
_HUES = 360


class Line(NamedTuple):
    """A line of text on a card: where it is cut if it is too long, and its colour."""

    text: str
    elide: Qt.TextElideMode
    colour: str


class CardDelegate(QStyledItemDelegate):
    """A delegate of cards of one size; subclasses `draw` what is on one."""

    def __init__(
        self, theme: Theme, parent: QWidget, room: QSize, weight: QFont.Weight | None = None
    ) -> None:
        """`room` is the size of a card without its two lines; `weight` is the name's."""
        super().__init__(parent)
        self.theme, self._weight = theme, weight
        lines = sum(QFontMetrics(font).height() for font in self._fonts(parent.font()))
        # The least size of a card, and the present one.
        self.least = self.cell = room + QSize(0, lines)

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QSize:
        """Return the size that all cards have."""
        return self.cell

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one card."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, option, index)
        painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one card with an antialiased painter, which is put back afterwards."""
        raise NotImplementedError

    def draw_pixmap(
        self, painter: QPainter, frame: QRect, pixmap: QPixmap, opacity: float = 1.0
    ) -> None:
        """Fill a rounded frame with the middle of a picture."""
        painter.save()
        painter.setClipPath(rounded(frame))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setOpacity(opacity)
        painter.drawPixmap(covering(pixmap.size(), QRectF(frame)), pixmap, QRectF(pixmap.rect()))
        painter.restore()

    def draw_sign(
        self, painter: QPainter, frame: QRect, name: str, icon: str, *, is_broken: bool = False
    ) -> None:
        """Fill a rounded frame for a file without a picture: an icon, on the name's own tint."""
        painter.fillPath(rounded(frame), self._tint(name, frame, is_broken=is_broken))
        colours = self.theme.colours
        place = QRect(0, 0, 2 * ICON, 2 * ICON)
        place.moveCenter(frame.center())
        pixmap = self.theme.icon(icon, colours.error if is_broken else colours.muted).pixmap(
            QSize(ICON, ICON), 3.0
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(QRectF(place), pixmap, QRectF(pixmap.rect()))

    def _tint(self, name: str, frame: QRect, *, is_broken: bool) -> QLinearGradient:
        """Return a quiet gradient that is always the same for a name."""
        colours = self.theme.colours
        base = QColor(colours.window)
        gradient = QLinearGradient(frame.topLeft(), frame.bottomRight())
        if is_broken:
            tint = QColor(colours.error_surface)
        else:
            hue = crc32(name.encode("utf-8", "replace")) % _HUES
            tint = QColor.fromHsl(hue, 70, 58 if base.lightness() < 128 else 214)
        gradient.setColorAt(0, tint)
        gradient.setColorAt(1, base)
        return gradient

    def draw_words(
        self, painter: QPainter, place: QRect, font: QFont, lines: Iterable[Line]
    ) -> None:
        """Draw the name and the line below it, from the top of a place and as wide as it."""
        is_mirrored = painter.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if is_mirrored else Qt.AlignmentFlag.AlignLeft
        side |= Qt.AlignmentFlag.AlignAbsolute
        painter.save()
        # A name keeps the direction of its own letters.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        top = place.top()
        for line, shown in zip(lines, self._fonts(font), strict=True):
            painter.setFont(shown)
            metrics = painter.fontMetrics()
            words = _shortened(metrics, line, place.width())
            painter.setPen(QColor(line.colour))
            room = QRect(place.left(), top, place.width(), metrics.height())
            painter.drawText(room, int(side), words)
            top += metrics.height()
        painter.restore()

    def _fonts(self, font: QFont) -> tuple[QFont, QFont]:
        """Return the fonts of a card's name and of the line below it."""
        name = QFont(font)
        if self._weight is not None:
            name.setWeight(self._weight)
        return name, scaled(font, "caption")


def _shortened(metrics: QFontMetrics, line: Line, width: int) -> str:
    """Return a line that fits: without its last parts, else with … in its one part."""
    text = line.text[:_MOST_CHARACTERS]
    if line.elide is not Qt.TextElideMode.ElideRight:
        return metrics.elidedText(text, line.elide, width)
    first, *others = text.split(PARTED)
    words = metrics.elidedText(first, line.elide, width)
    for part in others:
        longer = f"{words}{PARTED}{part}"
        if metrics.horizontalAdvance(longer) > width:
            break
        words = longer
    return words


def rounded(frame: QRect) -> QPainterPath:
    """Return a frame with round corners."""
    shape = QPainterPath()
    shape.addRoundedRect(QRectF(frame), RADIUS, RADIUS)
    return shape
