"""The application's icon, for its windows and for the installers of three systems.

Two drawings: a simpler one with bolder shapes is for sizes at which details would blur.
"""

from importlib import resources
from importlib.resources.abc import Traversable

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

# The largest size, in pixels, at which the simpler drawing is the clearer one.
_SMALL = 48
_WINDOW_SIDES = (16, 24, 32, 48, 64, 128, 256)


def app_icon() -> QIcon:
    """Return the icon with a picture for each size at which a system shows windows."""
    icon = QIcon()
    for side in _WINDOW_SIDES:
        icon.addPixmap(QPixmap.fromImage(draw_app_icon(side)))
    return icon


def draw_app_icon(side: int) -> QImage:
    """Draw the icon `side` pixels wide and high, with transparent corners; needs no window."""
    image = QImage(side, side, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(app_icon_drawing(side).read_bytes())).render(painter)
    painter.end()
    return image


def app_icon_drawing(side: int) -> Traversable:
    """Return the SVG file that the icon of this many pixels is drawn from."""
    name = "app_icon_small.svg" if side <= _SMALL else "app_icon.svg"
    return resources.files("ui.theme") / name
