"""Folders and names of picture files."""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from engine.api import ErrorCode
from engine.errors import EngineError
from engine.file_paths import is_folder

SUFFIX = ".png"
# Suffixes of pictures in general; all but PNG are refused.
_IMAGE_SUFFIXES = frozenset(
    {SUFFIX, ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".gif", ".tif", ".tiff"}
)
_COUNTER = re.compile(r"(\d{5,12})-", re.ASCII)
# Bytes of UTF-8. Names stay short of every limit even in a deep folder on Windows.
_SLUG_BYTES = 60
# A user's name shorter than this may grow by its number.
_NAME_BYTES = 140


@dataclass(frozen=True, slots=True)
class Destination:
    """A folder, and the name of a file in it if the user gave one.

    In a folder, files are called `00001-<seed>-<words of the prompt>.png`. A given name is used if
    it is free, else it becomes `name-1.png`, `name-2.png` and so on. `numbered` starts with
    `name-1.png`.
    """

    folder: Path
    name: str | None = None
    numbered: bool = False


def destination(out: str, count: int = 1) -> Destination:
    """Read `--out`: a folder if it is one, ends in a separator or has no suffix of a picture.

    With a `count` above one, pictures of a named file are numbered from the first. The disk is
    not changed. Raises REQUEST_INVALID for the suffix of another format than PNG.
    """
    separators = (os.sep, os.altsep or os.sep)
    path = Path(out)
    suffix = path.suffix.lower()
    if out.endswith(separators) or suffix not in _IMAGE_SUFFIXES or is_folder(path):
        return Destination(path)
    if suffix != SUFFIX:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"Pictures are written as PNG, not as {suffix}.",
            f"Name the file {path.stem}{SUFFIX}.",
        )
    return Destination(path.parent, path.name, numbered=count > 1)


def counted_name(counter: int, seed: int, prompt: str) -> str:
    """Return a picture's name in a folder; it begins with a digit, so no system reserves it."""
    return "-".join(filter(None, [f"{counter:05d}", str(seed), _slug(prompt)])) + SUFFIX


def counter_of(name: str) -> int:
    """Return the counter that a file name begins with, or 0."""
    match = _COUNTER.match(name)
    return int(match[1]) if match else 0


def sibling_names(name: str, *, numbered: bool) -> Iterator[str]:
    """Yield the names a picture may take, best first, without end.

    A long name is shortened to make room for its number: systems take 255 bytes, some only 143.
    """
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 (a name, not a path)
    if not numbered:
        yield name
    room = max(len(os.fsencode(name)), _NAME_BYTES)
    for number in count(1):
        ending = f"-{number}{suffix}"
        yield _first_bytes(stem, room - len(os.fsencode(ending))) + ending


def _first_bytes(text: str, length: int) -> str:
    """Return the longest beginning of a text that takes at most `length` bytes in a name."""
    while len(os.fsencode(text)) > length:
        text = text[:-1]
    return text


def _slug(prompt: str) -> str:
    """Return the first words of a prompt in letters and digits of any script, joined by hyphens."""
    # Composed, as macOS and Windows compare and show names; a prompt may be a million characters.
    text = unicodedata.normalize("NFKC", prompt[:200]).casefold()
    slug = ""
    for word in re.findall(r"[^\W_]+", text):
        longer = f"{slug}-{word}" if slug else word
        if len(longer.encode()) > _SLUG_BYTES:
            break
        slug = longer
    return slug
