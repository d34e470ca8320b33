"""The way pictures are written: their format, their names and what is in them."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import within

DEFAULT_NAME = "{counter}-{seed}-{prompt}"
DEFAULT_QUALITY = 92
# JPEG's others: browsers on Windows save pictures as .jfif.
JPEG_SUFFIXES = (".jpg", ".jpeg", ".jfif", ".jpe")
# The suffixes of files that hold pictures which are read and written.
PICTURE_SUFFIXES = (".png", *JPEG_SUFFIXES, ".webp")
QUALITY = within(1, 100, "quality of the pictures")


class PictureFormat(StrEnum):
    """The formats in which pictures are written."""

    PNG = "png"
    WEBP = "webp"
    JPEG = "jpeg"

    @property
    def suffix(self) -> str:
        """The end of the names of its files, with the dot."""
        return ".jpg" if self is PictureFormat.JPEG else f".{self.value}"


class PictureFile(msgspec.Struct, frozen=True):
    """The file of a picture: its name and its bytes."""

    name: str
    content: bytes


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """The way in which the pictures of a job are written.

    `name` is a pattern of their names without the suffix; `engine.output.names` knows its
    placeholders. PNG has no `quality`. Without `metadata` nothing in the file tells how it was
    made.
    """

    format: PictureFormat = PictureFormat.PNG
    quality: Annotated[int, QUALITY] = DEFAULT_QUALITY
    name: str = DEFAULT_NAME
    metadata: bool = True
