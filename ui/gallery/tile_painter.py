"""The drawing of the grid's tiles and headings."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap

from app.gallery.rows import MOST_STARS, GalleryRow, Trouble
from ui.gallery.grid_layout import INSET
from ui.gallery.labels import count_label, name_of, tool_label, trouble_label
from ui.gallery.tile_marks import HEART, mark_at, mark_place, marks_place
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
_STARS = range(1, MOST_STARS + 1)
# Marks lie on pictures of any colour, so they are the same in both colour schemes.
_BADGE_COLOUR = QColor(15, 13, 12, 200)
_ON_BADGE, _FAVOURITE, _REJECTED = "#f3ece7", "#ff7a45", "#ff9d8f"
_WORDS_ON_BADGE = QColor(_ON_BADGE)
_CENTRED = int(Qt.AlignmentFlag.AlignCenter)


class Pointed(NamedTuple):
    """The things under the pointer: a tile's row, a heading's section, the tile's mark."""

    row: int | None = None
    section: int | None = None
    mark: int | None = None


class TileState(NamedTuple):
    """A tile's part in the view: one of the chosen, the one with the focus, under the pointer.

    `mark` is the one under the pointer, as `tile_marks` numbers them.
    """

    chosen: bool
    current: bool
    hovered: bool
    mark: int | None = None


class TilePainter:
    """Draws tiles: the picture whole, in its own shape, with its marks in the corners."""

    def __init__(self, theme: Theme, font: QFont, mirrored: Callable[[], bool]) -> None:
        """`mirrored` tells whether lines begin at the right."""
        self._theme, self._mirrored = theme, mirrored
        self._caption = scaled(font, "caption")
        self._heading = scaled(font, "heading", QFont.Weight.DemiBold)
        self._signs: dict[tuple[str, str, float], QPixmap] = {}
        # Most tiles of a screen have the same words.
        self._fitted = lru_cache(maxsize=256)(self._fit)

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
        place, trouble = _picture_place(tile, row, pixmap), _trouble(row, pixmap)
        if trouble is not None:
            self._paint_broken(painter, place, row, trouble)
        elif pixmap is None:
            _fill(painter, place, QColor(self._theme.colours.surface))
        else:
            painter.setOpacity(_FADED if row.rejected else 1.0)
            painter.drawPixmap(place, pixmap)
            painter.setOpacity(1.0)
        self._paint_corner(painter, place, row)
        if state.hovered:
            self._paint_offered(painter, tile, row, pixmap, state.mark)
        else:
            self._paint_marks(painter, place, row)

    def mark_at(
        self, tile: QRect, row: GalleryRow, pixmap: QPixmap | None, point: QPoint
    ) -> int | None:
        """Return the mark that a tile offers at a point, as `tile_marks` numbers them."""
        mirrored = self._mirrored()
        return mark_at(self._marks_place(tile, row, pixmap), point, mirrored=mirrored)

    def _marks_place(self, tile: QRect, row: GalleryRow, pixmap: QPixmap | None) -> QRect:
        place = _picture_place(tile, row, pixmap)
        return marks_place(place, _room(tile), mirrored=self._mirrored())

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

    def paint_band(self, painter: QPainter, band: QRect) -> None:
        """Draw the rubber band that chooses tiles."""
        colour = QColor(self._theme.colours.accent)
        painter.setPen(colour)
        colour.setAlpha(40)
        painter.setBrush(colour)
        painter.drawRect(band)

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
        """Draw favourite and rating at the lower edge."""
        signs = [("heart_full", _FAVOURITE)] if row.favourite else []
        signs += [("star_full", _ON_BADGE)] * row.rating
        if signs:
            badge = _badge(painter, place, len(signs) * (_SIGN + 1) + S)
            badge.moveBottom(place.bottom() - XS)
            self._paint_signs(painter, badge, signs)

    def _paint_corner(self, painter: QPainter, place: QRect, row: GalleryRow) -> None:
        """Draw rejection or the other tool at the upper edge."""
        if row.rejected:
            badge = _badge(painter, place, _SIGN + 1 + S)
            self._paint_signs(painter, badge, [("reject", _REJECTED)])
        elif place.width() >= _LEAST_WORDED and (words := tool_label(row.tool)):
            words, width = self._fitted(words, place.width() - 2 * XS - 2 * S)
            badge = _badge(painter, place, width + 2 * S)
            _fill(painter, badge, _BADGE_COLOUR)
            painter.setFont(self._caption)
            painter.setPen(_WORDS_ON_BADGE)
            painter.drawText(badge, _CENTRED, words)

    def _paint_offered(
        self,
        painter: QPainter,
        tile: QRect,
        row: GalleryRow,
        pixmap: QPixmap | None,
        under: int | None,
    ) -> None:
        """Draw the marks to be clicked, as they would be after a click where the pointer is."""
        marks = self._marks_place(tile, row, pixmap)
        _fill(painter, marks, _BADGE_COLOUR)
        stars = under if under else row.rating
        heart = ("heart_full", _FAVOURITE) if row.favourite else ("heart", _ON_BADGE)
        if under == HEART and not row.favourite:
            heart = ("heart", _FAVOURITE)
        signs = [heart, *(("star_full" if n <= stars else "star", _ON_BADGE) for n in _STARS)]
        mirrored = self._mirrored()
        for mark, (name, colour) in enumerate(signs):
            sign = QRect(0, 0, _SIGN, _SIGN)
            sign.moveCenter(mark_place(marks, mark, mirrored=mirrored).center())
            painter.drawPixmap(sign.topLeft(), self._sign(painter, name, colour))

    def _fit(self, words: str, room: int) -> tuple[str, int]:
        """Return a caption cut to so many pixels, and its width."""
        metrics = QFontMetrics(self._caption)
        cut = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        return cut, metrics.horizontalAdvance(cut)

    def _sign(self, painter: QPainter, name: str, colour: str) -> QPixmap:
        key = (name, colour, painter.device().devicePixelRatioF())
        if key not in self._signs:
            self._signs[key] = draw(icon_source(name), colour, _SIGN, key[2])
        return self._signs[key]

    def _paint_signs(self, painter: QPainter, badge: QRect, signs: list[tuple[str, str]]) -> None:
        _fill(painter, badge, _BADGE_COLOUR)
        place = QPoint(badge.left() + XS, badge.top() + (_BADGE - _SIGN) // 2)
        for name, colour in signs:
            painter.drawPixmap(place, self._sign(painter, name, colour))
            place += QPoint(_SIGN + 1, 0)


def _room(tile: QRect) -> QRect:
    return tile.adjusted(INSET, INSET, -INSET, -INSET)


def _trouble(row: GalleryRow, pixmap: QPixmap | None) -> Trouble | None:
    """Return what is wrong: a file whose header is sound may still lack its pixels."""
    return Trouble.DAMAGED if pixmap is not None and pixmap.isNull() else row.trouble


def _picture_place(tile: QRect, row: GalleryRow, pixmap: QPixmap | None) -> QRect:
    """Return the place of a tile's picture, or of what says why there is none."""
    if _trouble(row, pixmap) is not None:
        return _room(tile)
    if pixmap is None:
        return fitted(QSize(max(row.width, 1), max(row.height, 1)), _room(tile))
    # One of the size before is stretched until its successor comes.
    return fitted(pixmap.size(), _room(tile))


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
