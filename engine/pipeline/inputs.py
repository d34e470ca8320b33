"""Reads the pictures a request refers to."""

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from engine.api.values import ErrorCode
from engine.errors import EngineError


def read_image(path: Path, width: int, height: int) -> NDArray[np.float32]:
    """A picture resized to `width` x `height`: float32 [1, 3, height, width] in [-1, 1].

    Its EXIF orientation is applied; transparency is laid on white. Raises
    EngineError(INPUT_IMAGE_UNREADABLE).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged metadata is no reason to refuse a picture
            # A header that claims more than 89 megapixels is.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=("PNG", "JPEG", "WEBP")) as opened:
                image = _on_white(ImageOps.exif_transpose(opened))
    except (
        OSError,
        SyntaxError,
        ValueError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise EngineError(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            f"The picture {path} cannot be read.",
            "Choose a PNG, JPEG or WebP file.",
            str(error),
        ) from error
    resized = image.resize((width, height), Image.Resampling.LANCZOS)
    pixels = np.asarray(resized, np.float32) / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[np.newaxis])


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        # 16 bits of grey, which Pillow would clip to 8 instead of scaling them.
        image = Image.fromarray((np.asarray(image) // 257).astype(np.uint8))
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
