"""Folders and names of picture files."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec

from engine.api import ErrorCode
from engine.api.saving import JPEG_SUFFIXES, PictureFormat
from engine.api.sentences import sentence
from engine.errors import EngineError
from engine.file_paths import is_folder

# The formats of the suffixes in which pictures are written.
_FORMATS = {
    ".png": PictureFormat.PNG,
    ".webp": PictureFormat.WEBP,
    **dict.fromkeys(JPEG_SUFFIXES, PictureFormat.JPEG),
}
# Suffixes of pictures that are refused.
_OTHERS = frozenset({".avif", ".bmp", ".gif", ".tif", ".tiff"})
# A user's name shorter than this may grow by its number.
_NAME_BYTES = 140


class Destination(msgspec.Struct, frozen=True):
    """A folder, and the name of a file in it if the user gave one.

    In a folder, files are called as `engine.api.picture_names` says. A given name is used if it is
    free, else it becomes `name-1.png`, `name-2.png` and so on. `numbered` starts with
    `name-1.png`.
    """

    folder: Path
    name: str | None = None
    numbered: bool = False

    def format(self, usual: PictureFormat) -> PictureFormat:
        """Return the format that the given name ends in; `usual` in a folder."""
        return _FORMATS[Path(self.name).suffix.lower()] if self.name else usual


def destination(out: str, count: int = 1) -> Destination:
    """Read `--out`: a folder if it is one, ends in a separator or has no suffix of a picture.

    With a `count` above one, pictures of a named file are numbered from the first. The disk is
    not changed. Raises REQUEST_INVALID for the suffix of a format that is not written.
    """
    separators = (os.sep, os.altsep or os.sep)
    path = Path(out)
    suffix = path.suffix.lower()
    is_named = suffix in _FORMATS or suffix in _OTHERS
    if out.endswith(separators) or not is_named or is_folder(path):
        return Destination(path)
    if suffix in _OTHERS:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("Pictures are written as PNG, WebP or JPEG, not as {suffix}.", suffix=suffix),
            sentence("Name the file {name}.", name=f"{path.stem}.png"),
        )
    return Destination(path.parent, path.name, numbered=count > 1)


def sibling_names(name: str, *, numbered: bool) -> Iterator[str]:
    """Yield the names a picture may take, best first, without end.

    A long name is shortened to make room for its number: systems take 255 bytes, some only 143.
    """
    suffix = Path(name).suffix
    if not numbered:
        yield name
    for number in count(1):
        yield name_after(name, f"-{number}{suffix}")


def name_after(name: str, ending: str) -> str:
    """Return a name for a file that is made of another: the other's stem, and an ending.

    A long stem is shortened, as in `sibling_names`.
    """
    room = max(len(os.fsencode(name)), _NAME_BYTES)
    return _first_bytes(Path(name).stem, room - len(os.fsencode(ending))) + ending


def _first_bytes(text: str, length: int) -> str:
    """Return the longest beginning of a text that takes at most `length` bytes in a name."""
    while len(os.fsencode(text)) > length:
        text = text[:-1]
    return text
