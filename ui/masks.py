"""Masks as pictures of Qt's: white is painted, black is kept."""

from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from ui.pictures import read_picture

# How much of a picture is hidden by the colour of its mask.
_VEIL = 0.55
# What is more opaque than half, by level.
_HALF = bytes(255 if level > 128 else 0 for level in range(256))


def empty_mask(size: QSize) -> QImage:
    """A mask that keeps everything."""
    mask = QImage(size, QImage.Format.Format_Grayscale8)
    mask.fill(Qt.GlobalColor.black)
    return mask


def read_mask(path: str, size: QSize) -> QImage | None:
    """The mask in a file of unknown origin, brought to a size; None where it cannot be read.

    As the engine reads it: where some of it is transparent, what is opaque is painted.
    """
    read = read_picture(path, size).image
    if read.isNull():
        return None
    mask = _opaque(read) or read.convertToFormat(QImage.Format.Format_Grayscale8)
    return _scaled(mask, size)


def veil(mask: QImage, colour: str) -> QImage:
    """Return an overlay that shows a mask over a picture, in the mask's size."""
    hidden = QImage(mask.size(), QImage.Format.Format_Grayscale8)
    hidden.fill(Qt.GlobalColor.black)
    with QPainter(hidden) as painter:
        painter.setOpacity(_VEIL)
        painter.drawImage(0, 0, mask)
    shown = QImage(mask.size(), QImage.Format.Format_ARGB32)
    shown.fill(QColor(colour))
    shown.setAlphaChannel(hidden)
    return shown


def is_empty(mask: QImage) -> bool:
    """Return True if the mask keeps the whole picture."""
    return mask == empty_mask(mask.size())


def inverted(mask: QImage) -> QImage:
    """Return the mask with painted and kept pixels exchanged."""
    other = mask.copy()
    other.invertPixels()
    return other


def _scaled(mask: QImage, size: QSize) -> QImage:
    smooth = Qt.TransformationMode.SmoothTransformation
    scaled = mask.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    return scaled.convertToFormat(QImage.Format.Format_Grayscale8)


def _opaque(image: QImage) -> QImage | None:
    """White where it is opaque; None where it is so everywhere."""
    alpha = image.convertToFormat(QImage.Format.Format_Alpha8)
    levels = bytes(alpha.constBits()).translate(_HALF)
    grey = QImage.Format.Format_Grayscale8
    mask = QImage(levels, alpha.width(), alpha.height(), alpha.bytesPerLine(), grey).copy()
    return None if mask == inverted(empty_mask(mask.size())) else mask


def as_png(mask: QImage, size: QSize) -> bytes:
    """The mask as a file's content, brought to a size."""
    mask = _scaled(mask, size)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    mask.save(buffer, "PNG")  # pyright: ignore[reportArgumentType, reportCallIssue]
    return bytes(buffer.data().data())
