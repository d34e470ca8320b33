"""The drawing of the grid's tiles and headings."""

from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap

from app.gallery.rows import GalleryRow, Trouble
from ui.gallery.grid_layout import INSET
from ui.gallery.labels import count_label, name_of, tool_label, trouble_label
from ui.theme.fonts import scaled
from ui.theme.icons import draw, icon_source
from ui.theme.metrics import ICON, RADIUS, XS, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable
from ui.widgets.placing import fitted

_RING = 2.5
_BADGE, _SIGN = 20, 12
# Smaller tiles have no room for words.
_LEAST_WORDED = 118
_FADED = 0.28
_MOST_WORDS = 200
# Marks lie on pictures of any colour, so they are the same in both colour schemes.
_BADGE_COLOUR = QColor(15, 13, 12, 200)
_ON_BADGE, _FAVOURITE, _REJECTED = "#f3ece7", "#ff7a45", "#ff9d8f"


class TileState(NamedTuple):
    """A tile's part in the view: one of the chosen, the one with the focus, under the pointer."""

    chosen: bool
    current: bool
    hovered: bool


class TilePainter:
    """Draws tiles: the picture whole, in its own shape, with its marks in the corners."""

    def __init__(self, theme: Theme, font: QFont) -> None:
        self._theme = theme
        self._caption = scaled(font, "caption")
        self._heading = scaled(font, "heading", QFont.Weight.DemiBold)
        self._signs: dict[tuple[str, str, float], QPixmap] = {}

    def paint(
        self,
        painter: QPainter,
        tile: QRect,
        row: GalleryRow,
        pixmap: QPixmap | None,
        state: TileState,
    ) -> None:
        """Draw a tile; without a pixmap its picture is still being read."""
        self._paint_state(painter, tile, state)
        room = tile.adjusted(INSET, INSET, -INSET, -INSET)
        place = room
        # A file whose header is sound may still lack its pixels.
        trouble = Trouble.DAMAGED if pixmap is not None and pixmap.isNull() else row.trouble
        if trouble is not None:
            self._paint_broken(painter, room, row, trouble)
        elif pixmap is None:
            place = fitted(QSize(max(row.width, 1), max(row.height, 1)), room)
            _fill(painter, place, QColor(self._theme.colours.surface))
        else:
            # One of the size before is stretched until its successor comes.
            place = fitted(pixmap.size(), room)
            painter.setOpacity(_FADED if row.rejected else 1.0)
            painter.drawPixmap(place, pixmap)
            painter.setOpacity(1.0)
        self._paint_marks(painter, place, row)

    def paint_heading(
        self, painter: QPainter, place: QRect, title: str, count: int, *, hovered: bool
    ) -> None:
        """Draw a section's heading over whatever is behind it."""
        colours = self._theme.colours
        painter.fillRect(place, QColor(colours.canvas))
        if hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.surface))
            painter.drawRoundedRect(place.adjusted(S, S, -S, 0), RADIUS, RADIUS)
        words = place.adjusted(2 * S, S, -2 * S, 0)
        painter.setFont(self._heading)
        painter.setPen(QColor(colours.text))
        aligned = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(words, aligned, title)
        taken = QFontMetrics(self._heading).horizontalAdvance(title) + S
        if painter.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            words.setRight(words.right() - taken)
        else:
            words.setLeft(words.left() + taken)
        painter.setFont(self._caption)
        painter.setPen(QColor(colours.muted))
        painter.drawText(words, aligned, count_label(count))

    def _paint_state(self, painter: QPainter, tile: QRect, state: TileState) -> None:
        colours = self._theme.colours
        if state.chosen:
            painter.setPen(QPen(QColor(colours.accent), _RING))
            painter.setBrush(QColor(colours.hover))
        elif state.hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.surface))
        if state.chosen or state.hovered:
            half = _RING / 2
            painter.drawRoundedRect(QRectF(tile).adjusted(half, half, -half, -half), RADIUS, RADIUS)
        if state.current:
            # Inside the ring of the chosen ones, so that both are seen.
            edge = _RING + 1 if state.chosen else 1
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.focus), 2))
            ring = QRectF(tile).adjusted(edge, edge, -edge, -edge)
            painter.drawRoundedRect(ring, RADIUS - 2, RADIUS - 2)

    def _paint_broken(
        self, painter: QPainter, room: QRect, row: GalleryRow, trouble: Trouble
    ) -> None:
        """Draw a placeholder that says why there is no picture."""
        colours = self._theme.colours
        _fill(painter, room, QColor(colours.surface))
        is_worded = room.width() >= _LEAST_WORDED
        sign = QRect(0, 0, ICON, ICON)
        sign.moveCenter(room.center() - QPoint(0, room.height() // 4 if is_worded else 0))
        self._theme.icon("warning", colours.muted).paint(painter, sign)
        if not is_worded:
            return
        words = room.adjusted(S, 0, -S, -S)
        words.setTop(sign.bottom() + XS)
        painter.setFont(self._caption)
        painter.setPen(QColor(colours.muted))
        flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        text = f"{breakable(name_of(row)[:_MOST_WORDS])}\n{trouble_label(trouble)}"
        painter.setClipRect(words)
        painter.drawText(words, flags | int(Qt.TextFlag.TextWordWrap), text)
        painter.setClipping(False)

    def _paint_marks(self, painter: QPainter, place: QRect, row: GalleryRow) -> None:
        """Draw favourite and rating at the lower edge, rejection or the other tool at the upper."""
        signs = [("heart_full", _FAVOURITE)] if row.favourite else []
        signs += [("star_full", _ON_BADGE)] * row.rating
        if signs:
            badge = _badge(painter, place, len(signs) * (_SIGN + 1) + S)
            badge.moveBottom(place.bottom() - XS)
            self._paint_signs(painter, badge, signs)
        if row.rejected:
            badge = _badge(painter, place, _SIGN + 1 + S)
            self._paint_signs(painter, badge, [("reject", _REJECTED)])
        elif place.width() >= _LEAST_WORDED and (words := tool_label(row.tool)):
            painter.setFont(self._caption)
            room = place.width() - 2 * XS - 2 * S
            words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room)
            width = painter.fontMetrics().horizontalAdvance(words) + 2 * S
            badge = _badge(painter, place, width)
            _fill(painter, badge, _BADGE_COLOUR)
            painter.setPen(QColor(_ON_BADGE))
            painter.drawText(badge, int(Qt.AlignmentFlag.AlignCenter), words)

    def _paint_signs(self, painter: QPainter, badge: QRect, signs: list[tuple[str, str]]) -> None:
        _fill(painter, badge, _BADGE_COLOUR)
        ratio = painter.device().devicePixelRatioF()
        place = QPoint(badge.left() + XS, badge.top() + (_BADGE - _SIGN) // 2)
        for name, colour in signs:
            key = (name, colour, ratio)
            if key not in self._signs:
                self._signs[key] = draw(icon_source(name), colour, _SIGN, ratio)
            painter.drawPixmap(place, self._signs[key])
            place += QPoint(_SIGN + 1, 0)


def _badge(painter: QPainter, place: QRect, width: int) -> QRect:
    """Return the place of a mark in the upper corner where lines begin."""
    badge = QRect(place.left() + XS, place.top() + XS, width, _BADGE)
    if painter.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        badge.moveRight(place.right() - XS)
    return badge


def _fill(painter: QPainter, place: QRect, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(place, XS, XS)
