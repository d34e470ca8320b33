"""Decoding of untrusted pictures with limits on memory; suitable for background threads."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from engine.api.request import GenerateRequest
from engine.errors import EngineError

MAX_PIXELS = 64_000_000
# The memory that a decoder may allocate: `MAX_PIXELS` pixels of four bytes.
ALLOCATION_MB = 256
_HEAD_BYTES = 12


class ReadPicture(msgspec.Struct, frozen=True):
    """A decoded picture and the file's full size in pixels; a null image if it cannot be read.

    `request` holds the settings in the file's metadata, None without any.
    """

    path: str
    image: QImage
    width: int = 0
    height: int = 0
    request: GenerateRequest | None = None


def limit_decoders() -> None:
    """Set Qt's own memory limit of decoders for the whole process."""
    QImageReader.setAllocationLimit(ALLOCATION_MB)


def read_picture(path: str, within: QSize, *, cover: bool = False) -> ReadPicture:
    """Decode a PNG, JPEG or WebP, scaled down to `within` device pixels at its own aspect ratio.

    With `cover` the picture covers the square `within` instead, up to an aspect ratio of 2 to 1.
    Smaller pictures keep their size. The content, not the name, tells the format. Never raises.
    """
    reader = QImageReader(path)
    kind = picture_kind(path)
    if not kind:
        return ReadPicture(path, QImage())
    reader.setDecideFormatFromContent(False)
    reader.setAutoDetectImageFormat(False)
    reader.setFormat(kind.encode())
    reader.setAutoTransform(True)
    size = reader.size()
    if size.isEmpty() or size.width() * size.height() > MAX_PIXELS:
        return ReadPicture(path, QImage())
    turned = _is_turned(reader)
    room = _room(size, within.transposed() if turned else within, cover=cover)
    if size.width() > room.width() or size.height() > room.height():
        scaled = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        reader.setScaledSize(scaled.expandedTo(QSize(1, 1)))
    image = reader.read()
    if image.isNull():
        return ReadPicture(path, image)
    shape = size.transposed() if turned else size
    # For a thumbnail, metadata hidden in pixels is not worth a second decoding.
    request = _request(path, decode=not cover)
    return ReadPicture(path, image.convertToFormat(_FORMAT), shape.width(), shape.height(), request)


# The format that Qt draws fastest.
_FORMAT = QImage.Format.Format_ARGB32_Premultiplied


def read_whole(path: str) -> ReadPicture:
    """Decode a picture at full size."""
    return read_picture(path, QSize(MAX_PIXELS, MAX_PIXELS))


def enlarge(image: QImage, within: QSize) -> QImage:
    """Return the picture, smoothly enlarged to fit.

    It is doubled repeatedly, because a single large step would show the corners of its pixels.
    """
    target = image.size().scaled(within, Qt.AspectRatioMode.KeepAspectRatio)
    target = target.expandedTo(QSize(1, 1))
    while image.width() * 2 < target.width():
        image = _scaled(image, image.size() * 2)
    return _scaled(image, target).convertToFormat(_FORMAT)


def preview_image(pixels: bytes, width: int, height: int, within: QSize) -> QImage:
    """Return an RGB preview, enlarged to fit."""
    image = QImage(pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
    return enlarge(image, within)


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


def _request(path: str, *, decode: bool) -> GenerateRequest | None:
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request

    try:
        return read_request(Path(path), decode=decode).request
    except EngineError:
        return None


def _scaled(image: QImage, size: QSize) -> QImage:
    return image.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
