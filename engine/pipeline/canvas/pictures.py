"""Reads the pictures of a request, and converts pixels to float samples and back."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backends.base import Array
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.metadata.opening import (
    PictureFault,
    eight_bit,
    open_picture,
    upright,
    upright_size,
)

T = TypeVar("T")
# Pixels of a transparent mask with a higher alpha (0 to 255) are painted.
_HALF_OPAQUE = 128


def read_image(path: Path, width: int, height: int) -> NDArray[np.float32]:
    """Read a picture with `read_picture` and resize it to `width` x `height`.

    Returns float32 [1, 3, height, width] in [-1, 1].
    """
    return as_samples(read_picture(path).resize((width, height), Image.Resampling.LANCZOS))


def as_pixels(image: NDArray[np.float32], *, rounds: bool) -> NDArray[np.uint8]:
    """Convert decoded images, float [batch, 3, height, width] in [-1, 1], to 8-bit pixels.

    Returns uint8 [batch, height, width, 3], rounded to nearest if `rounds`, else truncated.
    """
    levels = np.clip((image + 1) * 127.5, 0, 255)
    levels = np.rint(levels) if rounds else levels
    return np.ascontiguousarray(levels.astype(np.uint8).transpose(0, 2, 3, 1))


def as_samples(picture: Image.Image | Array) -> NDArray[np.float32]:
    """Convert an RGB picture, or its levels, to float32 [1, 3, height, width] in [-1, 1]."""
    pixels = np.asarray(picture, np.float32) / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[np.newaxis])


def read_picture(path: Path) -> Image.Image:
    """Read a picture as RGB at its own size.

    Its EXIF orientation is applied, and transparent parts become white. Raises
    EngineError(INPUT_IMAGE_UNREADABLE).
    """
    return _read(path, lambda opened: _on_white(upright(opened)), sentence("picture"))


def read_mask(path: Path) -> Image.Image:
    """Read a mask as greyscale ("L") at its own size; white is the part to paint.

    In a file with transparent pixels the opaque ones are painted, whatever their colour (A1111's
    `create_binary_mask`). Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    return _read(path, lambda opened: _grey(upright(opened)), sentence("mask"))


def picture_size(path: Path) -> tuple[int, int]:
    """Return the width and height of the picture that `read_picture` returns, from its header.

    Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    return _read(path, upright_size, sentence("picture"))


def _read(path: Path, work: Callable[[Image.Image], T], kind: Sentence) -> T:
    try:
        with open_picture(path) as opened:
            return work(opened)
    except PictureFault as fault:
        raise EngineError(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            sentence(
                "The {kind} {path} cannot be read: {fault}.",
                kind=kind,
                path=path,
                fault=fault.reason,
            ),
            sentence("Choose a PNG, JPEG or WebP file."),
        ) from fault


def _on_white(image: Image.Image) -> Image.Image:
    image = eight_bit(image)
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def _grey(image: Image.Image) -> Image.Image:
    image = eight_bit(image)
    if image.has_transparency_data:
        alpha = image.convert("RGBA").getchannel("A")
        if alpha.getextrema() != (255, 255):
            opaque = np.asarray(alpha) > _HALF_OPAQUE
            return Image.fromarray(opaque.astype(np.uint8) * np.uint8(255))
        image = image.convert("RGB")
    return image.convert("L")
