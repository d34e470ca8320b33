"""Decoding of untrusted pictures with limits on memory; suitable for background threads."""

import struct
from collections.abc import Generator
from contextlib import closing, contextmanager
from math import ceil
from pathlib import Path

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QFile, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from engine.metadata.picture_kinds import HEAD_BYTES, PictureKind, kind_of_head
from engine.regular_file import open_regular

MAX_PIXELS = 64_000_000
# The memory that a decoder may allocate: `MAX_PIXELS` pixels of four bytes.
ALLOCATION_MB = 256
# The bytes of a GIF's width and height.
GIF_SIZE = slice(6, 10)
# Qt's names of the formats that it reads here.
_READ_BY_QT: dict[PictureKind | None, bytes] = {
    PictureKind.PNG: b"png",
    PictureKind.JPEG: b"jpeg",
    PictureKind.WEBP: b"webp",
}


class Decoded(msgspec.Struct, frozen=True):
    """A decoded picture and the file's full size in pixels; a null image if it cannot be read."""

    image: QImage
    width: int = 0
    height: int = 0


def decode(path: str, within: QSize, *, cover: bool = False) -> Decoded:
    """Decode a PNG, JPEG, WebP or GIF, scaled to `within` device pixels at its own aspect ratio.

    Of an animation it is the first picture. With `cover` the picture covers the square `within`
    instead, up to an aspect ratio of 2 to 1. Smaller pictures keep their size. The content, not the
    name, tells the format. Never raises.
    """
    with _reader(path) as reader:
        if reader is not None:
            return _decoded(reader, within, cover=cover)
    return _decoded_gif(path, within, cover=cover)


def decode_jpeg(content: bytes) -> QImage:
    """Decode a JPEG of our own; null if it cannot be read.

    `QImage.fromData` would hold Python's lock, for which the window waits as it draws.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    return QImageReader(buffer, QByteArray(b"jpeg")).read()


def picture_size(path: str) -> QSize:
    """Return a picture's size in pixels, upright; an empty one if it cannot be read."""
    with _reader(path) as reader:
        if reader is None:
            return gif_size(path) or QSize()
        return reader.size().transposed() if _is_turned(reader) else reader.size()


def _decoded(reader: QImageReader, within: QSize, *, cover: bool) -> Decoded:
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


def _decoded_gif(path: str, within: QSize, *, cover: bool) -> Decoded:
    """Decode the first picture of a GIF as `decode` does; the image is null for other files.

    By Pillow, as installations leave out Qt's plug-in for GIFs.
    """
    size = gif_size(path)
    if size is None or size.isEmpty():
        return Decoded(QImage())
    # Here, as the window starts sooner without Pillow.
    from engine.metadata.opening import PictureFault, open_picture

    room = _room(size, within, cover=cover)
    try:
        with open_picture(Path(path), ("GIF",), MAX_PIXELS) as picture:
            shown = picture.convert("RGBA")
            if size.width() > room.width() or size.height() > room.height():
                shown.thumbnail(room.toTuple())
    except PictureFault:
        return Decoded(QImage())
    pixels = shown.tobytes()
    form = QImage.Format.Format_RGBA8888
    image = QImage(pixels, shown.width, shown.height, 4 * shown.width, form)
    # The copy has pixels of its own.
    return Decoded(image.copy(), size.width(), size.height())


def gif_size(path: str) -> QSize | None:
    """Return the width and height that a GIF's header states; None for other files."""
    try:
        with open_regular(Path(path)) as file:
            head = file.read(HEAD_BYTES)
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return None
    if kind_of_head(head) is not PictureKind.GIF or len(head) < GIF_SIZE.stop:
        return None
    return QSize(*struct.unpack("<HH", head[GIF_SIZE]))


@contextmanager
def _reader(path: str) -> Generator[QImageReader | None]:
    """Yield a reader of exactly the format that the content has; None for other formats.

    One file stays open for it, as a path may lead to another file, or to none, a moment later.
    """
    try:
        file = open_regular(Path(path))
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        yield None
        return
    device = QFile()
    with file, closing(device):
        kind = _READ_BY_QT.get(kind_of_head(file.read(HEAD_BYTES)), b"")
        if not kind or not device.open(file.fileno(), QFile.OpenModeFlag.ReadOnly):
            yield None
            return
        device.seek(0)
        reader = QImageReader(device, kind)
        reader.setDecideFormatFromContent(False)
        reader.setAutoDetectImageFormat(False)
        reader.setAutoTransform(True)
        yield reader


def _is_turned(reader: QImageReader) -> bool:
    """Return True if the file's orientation swaps width and height."""
    return bool(reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90)


def _room(size: QSize, within: QSize, *, cover: bool) -> QSize:
    if not cover:
        return within
    longer, shorter = max(size.toTuple()), min(size.toTuple())
    # Rounded up: a picture that is scaled into the room is not to be a pixel too small.
    stretch = min(2.0, longer / shorter)
    return QSize(ceil(within.width() * stretch), ceil(within.height() * stretch))
