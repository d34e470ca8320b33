"""A picture file read without decoding pixels: its size, its identity, and how it was made.

The identity is a digest of the pixels' bytes in the file: renaming, moving and copying keep it, and
so does a program that rewrites only metadata. A program that encodes the pixels again makes another
picture of it. Of long data only the ends are read, with the length; the end of a PNG's data is a
checksum of all of it.
"""

import os
import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from io import FileIO
from pathlib import Path

import msgspec

from app.decoding import GIF_SIZE, MAX_PIXELS
from app.gallery.rows import Trouble
from engine.metadata.picture_kinds import PNG_SIGNATURE, PictureKind, kind_of_head
from engine.regular_file import open_regular

_END_BYTES = 16 << 10
_HEAD_BYTES = 30
_IDENTITY_BYTES = 16
# Chunks of 8 KiB of the largest picture that is shown.
_MOST_CHUNKS = 100_000
_MOST_SEGMENTS = 10_000
# JPEG's markers: of frames, which give the size, and the first scan, where the pixels begin.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA


class Header(msgspec.Struct, frozen=True):
    """The facts of a picture file; 0 x 0 and an identity of the whole file if damaged."""

    width: int = 0
    height: int = 0
    identity: bytes | None = None
    trouble: Trouble | None = None


class _Pixels(msgspec.Struct, frozen=True):
    """The encoded pixels: the picture's size, and their first, last and all bytes' place."""

    width: int
    height: int
    start: int
    end: int


def read_header(file: FileIO) -> Header:
    """Return the facts of an open file. Raises OSError."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        return Header(trouble=Trouble.EMPTY)
    head = file.read(_HEAD_BYTES)
    look = _LOOKS.get(kind_of_head(head))
    if look is None:
        return Header(identity=_identity(file, b"file", 0, size), trouble=Trouble.OTHER_FORMAT)
    try:
        pixels = look(file, head, size)
    except struct.error:  # the file ends inside its header
        pixels = None
    if pixels is None or pixels.width < 1 or pixels.height < 1 or pixels.end <= pixels.start:
        return Header(identity=_identity(file, b"file", 0, size), trouble=Trouble.DAMAGED)
    kind = struct.pack(">II", pixels.width, pixels.height)
    too_large = pixels.width * pixels.height > MAX_PIXELS
    return Header(
        pixels.width,
        pixels.height,
        _identity(file, kind, pixels.start, pixels.end),
        Trouble.TOO_LARGE if too_large else None,
    )


@contextmanager
def open_raw(path: str) -> Generator[FileIO]:
    """Open a regular file unbuffered: a header's pieces are small and far apart. Raises OSError."""
    with open_regular(Path(path)) as file, FileIO(file.fileno(), closefd=False) as raw:
        yield raw


def trouble_of(path: str) -> Trouble:
    """Return why a file that is no picture for the decoder cannot be shown, as far as is known."""
    try:
        with open_raw(path) as file:
            trouble = read_header(file).trouble
            file.seek(0)
            # It can be looked at, but is no picture for anything else.
            is_gif = kind_of_head(file.read(_HEAD_BYTES)) is PictureKind.GIF
            return trouble or (Trouble.OTHER_FORMAT if is_gif else Trouble.DAMAGED)
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return Trouble.UNREADABLE


def _identity(file: FileIO, kind: bytes, start: int, end: int) -> bytes:
    """Return the digest of the first and the last bytes of a part of a file, and its length."""
    file.seek(start)
    digest = blake2b(kind + struct.pack(">Q", end - start), digest_size=_IDENTITY_BYTES)
    digest.update(file.read(min(_END_BYTES, end - start)))
    rest = max(end - _END_BYTES, start + _END_BYTES)
    if rest < end:
        file.seek(rest)
        digest.update(file.read(end - rest))
    return digest.digest()


def _png(file: FileIO, head: bytes, size: int) -> _Pixels | None:
    """Return the place from the first to the last IDAT chunk, which follow one another.

    A decoder passes over any number of other chunks; here the pixels of a file with more than
    `_MOST_CHUNKS` of them are taken to be all that follows.
    """
    if head[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", head, 16)
    start = end = 0
    for number, (kind, place, after) in enumerate(_png_chunks(file, size)):
        if number == _MOST_CHUNKS:
            start, end = start or place, size
            break
        if kind == b"IDAT":
            start, end = start or place, min(after, size)
        elif start:
            break
    return _Pixels(width, height, start, end)


def _png_chunks(file: FileIO, size: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each chunk's kind, place and end; the last may be cut off by the file's end."""
    place = len(PNG_SIGNATURE)
    while True:
        file.seek(place)
        head = file.read(8)
        if len(head) < 8:
            return
        length, kind = struct.unpack(">I4s", head)
        after = place + 12 + length
        yield kind, place, after
        if kind == b"IEND" or after >= size:
            return
        place = after


def _jpeg(file: FileIO, _head: bytes, size: int) -> _Pixels | None:
    """Return the place from the first scan to the file's end."""
    place = 2
    width = height = 0
    for _ in range(_MOST_SEGMENTS):
        file.seek(place)
        head = file.read(9)
        if len(head) < 9 or head[0] != 0xFF:
            return None
        marker, (length,) = head[1], struct.unpack_from(">H", head, 2)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", head, 5)
        if marker == _SCAN:
            return _Pixels(width, height, place, size)
        place += 2 + length
    return None


def _gif(_file: FileIO, head: bytes, size: int) -> _Pixels | None:
    """Return the place of all after the size: parts of texts and pictures lie between each other.

    A GIF that is cut off is shown as far as it goes.
    """
    width, height = struct.unpack("<HH", head[GIF_SIZE])
    return _Pixels(width, height, GIF_SIZE.stop, size)


def _webp(file: FileIO, head: bytes, size: int) -> _Pixels | None:
    """Return the place of the picture's chunk, of an animation's first frame."""
    place, canvas = 12, None
    if head[12:16] == b"VP8X":
        sides = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
        canvas = tuple(sides)
    for _ in range(_MOST_SEGMENTS):
        file.seek(place)
        chunk = file.read(18)
        if len(chunk) < 18:
            return None
        kind, length = struct.unpack_from("<4sI", chunk)
        if kind in (b"VP8 ", b"VP8L", b"ANMF"):
            width, height = canvas or _webp_size(kind, chunk)
            return _Pixels(width, height, place, min(place + 8 + length, size))
        place += 8 + length + length % 2
    return None


def _webp_size(kind: bytes, chunk: bytes) -> tuple[int, int]:
    """Return the size of a frame: 14 bits each of width and height; 0 x 0 if it is none."""
    if kind == b"VP8L" and chunk[8] == 0x2F:
        bits = int.from_bytes(chunk[9:13], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and chunk[11:14] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", chunk, 14)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0


# What finds the pixels of each format that is shown.
_LOOKS: dict[PictureKind | None, Callable[[FileIO, bytes, int], _Pixels | None]] = {
    PictureKind.PNG: _png,
    PictureKind.JPEG: _jpeg,
    PictureKind.GIF: _gif,
    PictureKind.WEBP: _webp,
}
