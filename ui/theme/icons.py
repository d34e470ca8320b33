"""Safelight's icons: small line drawings in the theme's colours."""

from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


def draw_icon(name: str, colour: str, disabled: str) -> QIcon:
    """Return an icon, enabled and disabled; it is drawn when it is seen."""
    return QIcon(_Drawing(name, colour, disabled))


class _Drawing(QIconEngine):
    """Draws an icon in the sizes that it is asked for, each once.

    A look has dozens of icons, most of them on pages that nobody sees.
    """

    def __init__(self, name: str, colour: str, disabled: str) -> None:
        super().__init__()
        self._name, self._colour, self._disabled = name, colour, disabled
        self._drawn: dict[tuple[str, int, float], QPixmap] = {}

    def clone(self) -> QIconEngine:
        """Return an engine of the same icon."""
        return _Drawing(self._name, self._colour, self._disabled)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the drawing for a screen of 96 dots an inch."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(  # noqa: N802 (Qt's name)
        self, size: QSize, mode: QIcon.Mode, _state: QIcon.State, scale: float
    ) -> QPixmap:
        """Return the drawing for a size in device-independent pixels, at a device pixel ratio."""
        shade = self._disabled if mode is QIcon.Mode.Disabled else self._colour
        side = min(size.width(), size.height())
        key = shade, side, scale
        if key not in self._drawn:
            self._drawn[key] = draw(icon_source(self._name), shade, side, scale)
        return self._drawn[key]

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the icon in the middle of a rectangle."""
        ratio = painter.device().devicePixelRatioF()
        side = min(rect.width(), rect.height())
        place = QRect(0, 0, side, side)
        place.moveCenter(rect.center())
        painter.drawPixmap(place, self.scaledPixmap(place.size(), mode, state, ratio))


@cache
def icon_source(name: str) -> str:
    """Return the drawing as SVG; its colour is `currentColor`."""
    return (resources.files("ui.theme") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def draw(source: str, colour: str, side: int, ratio: float) -> QPixmap:
    """Render a square drawing, `side` device-independent pixels wide, at a device pixel ratio."""
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
