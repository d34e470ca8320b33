"""Fonts of the theme's sizes, for what is painted by hand."""

from PySide6.QtGui import QFont

from ui.theme.theme import SCALES


def scaled(font: QFont, size: str, weight: QFont.Weight | None = None) -> QFont:
    """Return a font in a size of the theme, such as "caption", and maybe another weight."""
    other = QFont(font)
    other.setPointSizeF(font.pointSizeF() * SCALES[size])
    if weight is not None:
        other.setWeight(weight)
    return other
