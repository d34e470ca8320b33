"""Masks as pictures of Qt's: white is painted, black is kept."""

from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from ui.pictures import read_picture

# How much of a picture is hidden by the colour of its mask.
_VEIL = 0.55


def empty_mask(size: QSize) -> QImage:
    """A mask that keeps everything."""
    mask = QImage(size, QImage.Format.Format_Grayscale8)
    mask.fill(Qt.GlobalColor.black)
    return mask


def read_mask(path: str, size: QSize) -> QImage | None:
    """The mask in a file of unknown origin, brought to a size; None where it cannot be read."""
    read = read_picture(path, size).image
    if read.isNull():
        return None
    # What is not covered is kept, as the engine reads it.
    mask = QImage(read.size(), QImage.Format.Format_RGB32)
    mask.fill(Qt.GlobalColor.black)
    with QPainter(mask) as painter:
        painter.drawImage(0, 0, read)
    scaled = mask.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    return scaled.convertToFormat(QImage.Format.Format_Grayscale8)


def veil(mask: QImage, colour: str) -> QImage:
    """What is laid over a picture to show its mask, in the mask's size."""
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
    """Whether it keeps everything."""
    return mask == empty_mask(mask.size())


def inverted(mask: QImage) -> QImage:
    """What it kept is painted, and the other way round."""
    other = mask.copy()
    other.invertPixels()
    return other


def as_png(mask: QImage) -> bytes:
    """The mask as a file's content."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    mask.save(buffer, "PNG")  # pyright: ignore[reportArgumentType, reportCallIssue]
    return bytes(buffer.data().data())
