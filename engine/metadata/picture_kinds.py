"""The kind of a picture file by its first bytes, whatever its name says."""

from enum import Enum, auto
from pathlib import Path

from engine.regular_file import open_regular

# The bytes at a file's beginning that tell each kind.
HEAD_BYTES = 12
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE = b"\xff\xd8\xff"
_GIF_SIGNATURES = (b"GIF87a", b"GIF89a")
# Of a picture, and of several.
_AVIF_BRANDS = (b"ftypavif", b"ftypavis")


class PictureKind(Enum):
    """The formats that are told apart by their first bytes."""

    PNG = auto()
    JPEG = auto()
    WEBP = auto()
    GIF = auto()
    AVIF = auto()


def kind_of_head(head: bytes) -> PictureKind | None:
    """Return the kind of a file that begins so, by `HEAD_BYTES` or more; None for every other."""
    if head.startswith(PNG_SIGNATURE):
        return PictureKind.PNG
    if head.startswith(_JPEG_SIGNATURE):
        return PictureKind.JPEG
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return PictureKind.WEBP
    if head.startswith(_GIF_SIGNATURES):
        return PictureKind.GIF
    return PictureKind.AVIF if head[4:12] in _AVIF_BRANDS else None


def kind_of_file(path: Path) -> PictureKind | None:
    """Return the kind of a picture file; None for other files, and where nothing can be read."""
    try:
        with open_regular(path) as file:
            return kind_of_head(file.read(HEAD_BYTES))
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return None
