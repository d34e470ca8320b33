"""Reading for the canvas, in the background: the picture to show, and the one it began with."""

import msgspec
from PySide6.QtCore import QRectF, QSize

from app.decoding import MAX_PIXELS, decode
from ui.picture_levels import PictureLevels, make_levels
from ui.pictures import ReadPicture, read_whole


def read_shown(path: str) -> tuple[ReadPicture, PictureLevels]:
    """Read a picture to be shown; the smallest of its copies stands in it for whoever wants one."""
    picture = read_whole(path)
    levels = make_levels(picture.image)
    return msgspec.structs.replace(picture, image=levels.images[-1]), levels


def read_start(path: str, expand: tuple[int, int, int, int]) -> tuple[PictureLevels, QRectF] | None:
    """Read a start picture; with it the part of the result where it lies, from 0 to 1.

    `expand` is by how many pixels the result is larger on the left, top, right and bottom. None if
    the picture cannot be read.
    """
    decoded = decode(path, QSize(MAX_PIXELS, MAX_PIXELS))
    if decoded.image.isNull():
        return None
    left, top, right, bottom = expand
    width, height = decoded.width + left + right, decoded.height + top + bottom
    part = QRectF(left / width, top / height, decoded.width / width, decoded.height / height)
    return make_levels(decoded.image), part
