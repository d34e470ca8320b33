"""Reads pictures of unknown origin, off the GUI thread, within bounds."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from engine.api.request import GenerateRequest
from engine.errors import EngineError
from engine.metadata.readers import read_request

MAX_PIXELS = 64_000_000
# What a decoder may allocate: that many pixels of four bytes.
ALLOCATION_MB = 256
_HEAD_BYTES = 12


class ReadPicture(msgspec.Struct, frozen=True):
    """A decoded picture with its own size in pixels; null where it cannot be read.

    `request` is how it was made, where it says so.
    """

    path: str
    image: QImage
    width: int = 0
    height: int = 0
    request: GenerateRequest | None = None


def limit_decoders() -> None:
    """Set Qt's own bound on decoding, for the whole process."""
    QImageReader.setAllocationLimit(ALLOCATION_MB)


def read_picture(path: str, within: QSize, *, cover: bool = False) -> ReadPicture:
    """Decode a PNG, JPEG or WebP to fit into `within`, in device pixels, keeping its shape.

    With `cover` its shorter side fits, up to a shape of 2 to 1. Smaller pictures keep their size;
    what a file is is told by its content. Never raises.
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
    # A thumbnail needs no second decoding for what may be hidden in its pixels.
    request = _request(path, decode=not cover)
    return ReadPicture(path, image.convertToFormat(_FORMAT), shape.width(), shape.height(), request)


# What Qt draws fastest.
_FORMAT = QImage.Format.Format_ARGB32_Premultiplied


def read_whole(path: str) -> ReadPicture:
    """Decode a picture in its own size."""
    return read_picture(path, QSize(MAX_PIXELS, MAX_PIXELS))


def enlarge(image: QImage, within: QSize) -> QImage:
    """The picture as large as fits, smooth. By doubling: one big step shows its pixels' corners."""
    target = image.size().scaled(within, Qt.AspectRatioMode.KeepAspectRatio)
    target = target.expandedTo(QSize(1, 1))
    while image.width() * 2 < target.width():
        image = _scaled(image, image.size() * 2)
    return _scaled(image, target).convertToFormat(_FORMAT)


def preview_image(pixels: bytes, width: int, height: int, within: QSize) -> QImage:
    """A preview, RGB, as large as fits."""
    image = QImage(pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
    return enlarge(image, within)


def picture_kind(path: str) -> str:
    """png, jpeg or webp by the first bytes of a file, empty for everything else."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    # A path with a null character is a ValueError.
    except (OSError, ValueError):
        return ""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "webp" if head.startswith(b"RIFF") and head[8:12] == b"WEBP" else ""


def _is_turned(reader: QImageReader) -> bool:
    """Return True if the camera was held upright, so that width and height change places."""
    return bool(reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90)


def _room(size: QSize, within: QSize, *, cover: bool) -> QSize:
    if not cover:
        return within
    longer, shorter = max(size.toTuple()), min(size.toTuple())
    return within * min(2.0, longer / shorter)


def _request(path: str, *, decode: bool) -> GenerateRequest | None:
    try:
        return read_request(Path(path), decode=decode).request
    except EngineError:
        return None


def _scaled(image: QImage, size: QSize) -> QImage:
    return image.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
