"""Decoding of untrusted pictures with limits on memory; suitable for background threads."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

MAX_PIXELS = 64_000_000
# The memory that a decoder may allocate: `MAX_PIXELS` pixels of four bytes.
ALLOCATION_MB = 256
_HEAD_BYTES = 12


class Decoded(msgspec.Struct, frozen=True):
    """A decoded picture and the file's full size in pixels; a null image if it cannot be read."""

    image: QImage
    width: int = 0
    height: int = 0


def decode(path: str, within: QSize, *, cover: bool = False) -> Decoded:
    """Decode a PNG, JPEG or WebP, scaled down to `within` device pixels at its own aspect ratio.

    With `cover` the picture covers the square `within` instead, up to an aspect ratio of 2 to 1.
    Smaller pictures keep their size. The content, not the name, tells the format. Never raises.
    """
    reader = _reader(path)
    if reader is None:
        return Decoded(QImage())
    size = reader.size()
    if size.isEmpty() or size.width() * size.height() > MAX_PIXELS:
        return Decoded(QImage())
    turned = _is_turned(reader)
    room = _room(size, within.transposed() if turned else within, cover=cover)
    if size.width() > room.width() or size.height() > room.height():
        scaled = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        reader.setScaledSize(scaled.expandedTo(QSize(1, 1)))
    image = reader.read()
    if image.isNull():
        return Decoded(image)
    shape = size.transposed() if turned else size
    return Decoded(image, shape.width(), shape.height())


def picture_size(path: str) -> QSize:
    """Return a picture's size in pixels, upright; an empty one if it cannot be read."""
    reader = _reader(path)
    if reader is None:
        return QSize()
    return reader.size().transposed() if _is_turned(reader) else reader.size()


def _reader(path: str) -> QImageReader | None:
    """Return a reader of exactly the format that the content has; None for other formats."""
    kind = picture_kind(path)
    if not kind:
        return None
    reader = QImageReader(path)
    reader.setDecideFormatFromContent(False)
    reader.setAutoDetectImageFormat(False)
    reader.setFormat(kind.encode())
    reader.setAutoTransform(True)
    return reader


def picture_kind(path: str) -> str:
    """Return "png", "jpeg" or "webp" by the first bytes of a file, "" for everything else."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return ""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "webp" if head.startswith(b"RIFF") and head[8:12] == b"WEBP" else ""


def _is_turned(reader: QImageReader) -> bool:
    """Return True if the file's orientation swaps width and height."""
    return bool(reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90)


def _room(size: QSize, within: QSize, *, cover: bool) -> QSize:
    if not cover:
        return within
    longer, shorter = max(size.toTuple()), min(size.toTuple())
    return within * min(2.0, longer / shorter)
