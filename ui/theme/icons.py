"""Our icons: small drawings of lines, in whatever colour the theme has."""

from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ui.theme.metrics import ICON

_RATIOS = (1, 2, 3)


def draw_icon(name: str, colour: str, disabled: str) -> QIcon:
    """The icon in two states, for screens of one, two and three pixels to the point."""
    source = icon_source(name)
    icon = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        for ratio in _RATIOS:
            icon.addPixmap(draw(source, shade, ICON, ratio), mode)
    return icon


def icon_source(name: str) -> str:
    """The drawing as SVG; its colour is `currentColor`."""
    return (resources.files("ui.theme") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def draw(source: str, colour: str, side: int, ratio: float) -> QPixmap:
    """A square drawing, `side` points wide, on a screen of `ratio` pixels to the point."""
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
