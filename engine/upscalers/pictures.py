"""Reads the pictures to enlarge, with their transparency."""

from pathlib import Path

import numpy as np
from PIL import ImageOps

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.metadata.opening import PictureFault, eight_bit, open_picture
from engine.upscalers.upscale import Pixels


def read_pixels(path: Path) -> Pixels:
    """Read a picture as uint8 [height, width, 3], or 4 with the opacity, at its own size.

    Its EXIF orientation is applied. Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    try:
        with open_picture(path) as opened:
            image = eight_bit(ImageOps.exif_transpose(opened))
            mode = "RGBA" if image.has_transparency_data else "RGB"
            return np.asarray(image.convert(mode))
    except PictureFault as fault:
        raise EngineError(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            sentence("The picture {path} cannot be read: {fault}.", path=path, fault=fault),
            sentence("Choose a PNG, JPEG or WebP file."),
        ) from fault
