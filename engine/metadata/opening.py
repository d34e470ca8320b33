"""Opens and decodes a picture of unknown origin, within bounds. Only this module opens pixels."""

import struct
import warnings
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import (
    ExifTags,
    Image,
    ImageOps,
    PngImagePlugin,
    UnidentifiedImageError,
    WebPImagePlugin,
)

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.file_paths import why_no_file
from engine.regular_file import open_regular

# The most pixels to decode; a picture whose header claims more is refused.
MAX_PIXELS = 89_000_000
FORMATS = ("PNG", "JPEG", "WEBP")
# Its import registers WebP: for a format that it does not know Pillow imports all 40, 4 MB of them.
assert WebPImagePlugin
# The most bytes of a colour profile or another packed part of a PNG; those of printers and the
# histories of editors exceed Pillow's mebibyte, which then takes the picture for a bomb.
PngImagePlugin.MAX_TEXT_CHUNK = 16 << 20
# The orientations that swap width and height.
_TURNED = frozenset({5, 6, 7, 8})
# What Pillow raises for EXIF data that are none.
_NO_EXIF = (SyntaxError, struct.error)


class PictureFault(Exception):  # noqa: N818 (of the picture, not of ours)
    """A picture cannot be opened or decoded; `reason` is the end of a sentence, as is `str()`."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(str(reason))
        self.reason = reason


@contextmanager
def open_picture(
    path: Path, formats: tuple[str, ...] = FORMATS, most: int = MAX_PIXELS
) -> Generator[Image.Image]:
    """Open a picture, to be decoded inside the context. Raises PictureFault, also inside it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged metadata is no reason to refuse a picture
            with open_regular(path) as file, Image.open(file, formats=formats) as image:
                if image.width * image.height > most:
                    raise PictureFault(_too_large(most))
                yield image
    except Image.DecompressionBombError as error:
        raise PictureFault(_too_large(most)) from error
    except UnidentifiedImageError as error:
        if path.stat().st_size == 0:
            raise PictureFault(sentence("it is empty")) from error
        raise PictureFault(
            sentence("it is no PNG, JPEG or WebP file, or its beginning is damaged")
        ) from error
    except FileNotFoundError as error:
        raise PictureFault(sentence("it is not there")) from error
    # Errors that Pillow raises for damaged files; the system's are its own.
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        if reason and (no_file := why_no_file(path)) is not None:
            raise PictureFault(no_file) from error
        detail = as_it_is(reason or str(error))
        raise PictureFault(
            sentence("it is damaged or incomplete ({detail})", detail=detail)
        ) from error


def upright(image: Image.Image) -> Image.Image:
    """Return the picture turned as its EXIF data say; as it is where these are damaged."""
    image.load()
    try:
        return ImageOps.exif_transpose(image)
    except _NO_EXIF:
        return image


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Return the width and height of `upright(image)`; its pixels need not be decoded."""
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except _NO_EXIF:
        return image.size
    return (image.height, image.width) if orientation in _TURNED else image.size


def eight_bit(image: Image.Image) -> Image.Image:
    """Return the picture with 16-bit grey scaled to 8 bits: Pillow would clip it.

    The grey that a PNG file declares to be transparent (tRNS) is so in the result.
    """
    if image.mode.startswith("I"):
        # The window reads texts in pictures, for which NumPy's 15 MB are not needed.
        import numpy as np

        levels = np.asarray(image)
        grey = Image.fromarray((levels // 257).astype(np.uint8))
        clear = image.info.get("transparency")
        if isinstance(clear, int):
            grey.putalpha(Image.fromarray(np.where(levels == clear, 0, 255).astype(np.uint8)))
        return grey
    return image


def _too_large(most: int) -> Sentence:
    return sentence("it claims more than {millions} million pixels", millions=most // 1_000_000)
