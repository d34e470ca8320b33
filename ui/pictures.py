"""Untrusted pictures with their settings; suitable for background threads."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from app.decoding import ALLOCATION_MB, MAX_PIXELS, decode, gif_size
from app.gallery.rows import Trouble
from engine.api.request import GenerateRequest
from engine.errors import EngineError


class ReadPicture(msgspec.Struct, frozen=True):
    """A decoded picture and the file's full size in pixels; a null image if it cannot be read.

    `request` holds the settings in the file's metadata, None without any.
    """

    path: str
    image: QImage
    width: int = 0
    height: int = 0
    request: GenerateRequest | None = None
    # The name of the model that made it; empty if that is not told.
    model: str = ""

    @property
    def size(self) -> QSize:
        """The file's size in pixels."""
        return QSize(self.width, self.height)


def limit_decoders() -> None:
    """Set Qt's own memory limit of decoders for the whole process."""
    QImageReader.setAllocationLimit(ALLOCATION_MB)


def read_picture(path: str, within: QSize, *, cover: bool = False) -> ReadPicture:
    """Decode a picture and read its settings, as `decode` does. Never raises."""
    decoded = decode(path, within, cover=cover)
    if decoded.image.isNull():
        return ReadPicture(path, decoded.image)
    # For a thumbnail, metadata hidden in pixels is not worth a second decoding.
    request, model = _settings(path, hidden=not cover)
    image = decoded.image.convertToFormat(_FORMAT)
    return ReadPicture(path, image, decoded.width, decoded.height, request, model)


# The format that Qt draws fastest.
_FORMAT = QImage.Format.Format_ARGB32_Premultiplied


def read_chosen(path: str, within: QSize) -> tuple[ReadPicture, Trouble | None]:
    """Read a picture that a person chose to cover a size; the other is why it cannot be shown."""
    picture = read_picture(path, within, cover=True)
    # A GIF can be looked at, but is kept as a PNG file before it is used.
    if not picture.image.isNull() and gif_size(path) is None:
        return picture, None
    # Here, as the window starts sooner without the readers of a dozen tools.
    from app.gallery.headers import trouble_of

    return picture, trouble_of(path)


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


def png_of(image: QImage) -> bytes:
    """Return a picture as the bytes of a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # pyright: ignore[reportArgumentType, reportCallIssue]
    return bytes(buffer.data().data())


def preview_image(pixels: bytes, width: int, height: int, within: QSize) -> QImage:
    """Return an RGB preview, enlarged to fit."""
    image = QImage(pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
    return enlarge(image, within)


def _settings(path: str, *, hidden: bool) -> tuple[GenerateRequest | None, str]:
    """Return a picture's settings, and the name of its model."""
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request
    from ui.picture_facts import model_name

    try:
        imported = read_request(Path(path), decode=hidden)
    except EngineError:
        return None, ""
    return imported.request, model_name(imported)


def _scaled(image: QImage, size: QSize) -> QImage:
    return image.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
