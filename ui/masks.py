"""Masks as QImages: white is painted, black is kept."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, qRgba

from ui.pictures import png_of, read_picture

# The opacity of the mask's colour over a picture.
_VEIL = 0.55
_BLACK = b"\0"
# A table from 8-bit alpha to black (up to half) or white (above half).
_HALF = bytes(255 if level > 128 else 0 for level in range(256))


def empty_mask(size: QSize) -> QImage:
    """Return a mask that keeps everything."""
    mask = QImage(size, QImage.Format.Format_Grayscale8)
    mask.fill(Qt.GlobalColor.black)
    return mask


def read_mask(path: str, size: QSize) -> QImage | None:
    """Read a mask from an untrusted file, scaled to a size; None if it cannot be read.

    If the picture has transparent pixels, its opaque pixels are painted, as in the engine.
    """
    read = read_picture(path, size).image
    if read.isNull():
        return None
    mask = _opaque(read) or read.convertToFormat(QImage.Format.Format_Grayscale8)
    return _scaled(mask, size)


def veil(mask: QImage, colour: str) -> QImage:
    """Return an overlay that shows a mask over a picture, in the mask's size."""
    tint = QColor(colour)
    shown = mask.convertToFormat(QImage.Format.Format_Grayscale8)
    # A table of colours is many times quicker than to paint the mask into an alpha channel.
    shown.reinterpretAsFormat(QImage.Format.Format_Indexed8)
    rgb = tint.red(), tint.green(), tint.blue()
    shown.setColorTable([qRgba(*rgb, round(_VEIL * level)) for level in range(256)])
    return shown.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def is_empty(mask: QImage) -> bool:
    """Return True if the mask keeps the whole picture."""
    return mask == empty_mask(mask.size())


def painted_box(mask: QImage) -> QRect:
    """Return the rectangle around all that is painted, however faintly; an empty one for nothing.

    The mask is in 8-bit grey.
    """
    # Copied 4 pixels at a time, as the rows of such a picture have that many bytes.
    width = -(-mask.width() // 4) * 4
    whole = mask.copy(0, 0, width, mask.height())
    levels = bytes(whole.constBits())
    top, bottom = _blank(levels) // width, (len(levels.rstrip(_BLACK)) - 1) // width
    rows = [levels[start : start + width] for start in range(top * width, len(levels), width)]
    rows = rows[: bottom - top + 1]
    left = min(map(_blank, rows), default=0)
    right = max((len(row.rstrip(_BLACK)) for row in rows), default=0)
    return QRect(left, top, right - left, len(rows))


def _blank(levels: bytes) -> int:
    """Return the number of black pixels before the first other one."""
    return len(levels) - len(levels.lstrip(_BLACK))


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
    """Return a mask with opaque pixels white; None if all pixels are opaque."""
    alpha = image.convertToFormat(QImage.Format.Format_Alpha8)
    levels = bytes(alpha.constBits()).translate(_HALF)
    grey = QImage.Format.Format_Grayscale8
    mask = QImage(levels, alpha.width(), alpha.height(), alpha.bytesPerLine(), grey).copy()
    return None if mask == inverted(empty_mask(mask.size())) else mask


def as_png(mask: QImage, size: QSize) -> bytes:
    """Return the mask, scaled to a size, as the bytes of a PNG file."""
    return png_of(_scaled(mask, size))
