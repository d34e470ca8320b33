"""Safelight's icons: small line drawings in the theme's colours."""

from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ui.theme.metrics import ICON

_RATIOS = (1, 2, 3)


def draw_icon(name: str, colour: str, disabled: str) -> QIcon:
    """Draw an icon, enabled and disabled, for device pixel ratios of 1, 2 and 3."""
    source = icon_source(name)
    icon = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        for ratio in _RATIOS:
            icon.addPixmap(draw(source, shade, ICON, ratio), mode)
    return icon


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
