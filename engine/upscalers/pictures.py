"""Reads the pictures to enlarge, with their transparency."""

from pathlib import Path

import numpy as np

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.file_paths import exists
from engine.metadata.opening import (
    PictureFault,
    eight_bit,
    open_picture,
    upright,
    upright_size,
)
from engine.upscalers.upscale import Pixels


def source_gone(path: Path) -> EngineError:
    """Return the error for a picture that is not there any more."""
    return EngineError(
        ErrorCode.INPUT_IMAGE_UNREADABLE,
        sentence("The picture {path} is not there any more.", path=path),
        sentence("It may have been moved or deleted; choose another one."),
    )


def picture_shape(path: Path) -> tuple[int, int, int]:
    """Return the channels, 3 or 4, the height and the width that `read_pixels` would return.

    Reads the header alone. Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    try:
        with open_picture(path) as opened:
            width, height = upright_size(opened)
            return 4 if opened.has_transparency_data else 3, height, width
    except PictureFault as fault:
        raise _unreadable(path, fault) from fault


def read_pixels(path: Path) -> Pixels:
    """Read a picture as uint8 [height, width, 3], or 4 with the opacity, at its own size.

    Its EXIF orientation is applied. Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    try:
        with open_picture(path) as opened:
            image = eight_bit(upright(opened))
            mode = "RGBA" if image.has_transparency_data else "RGB"
            return np.asarray(image.convert(mode))
    except PictureFault as fault:
        raise _unreadable(path, fault) from fault


def _unreadable(path: Path, fault: PictureFault) -> EngineError:
    if not exists(path):
        return source_gone(path)
    return EngineError(
        ErrorCode.INPUT_IMAGE_UNREADABLE,
        sentence("The picture {path} cannot be read: {fault}.", path=path, fault=fault.reason),
        sentence("Choose a PNG, JPEG or WebP file."),
    )
