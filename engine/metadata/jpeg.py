"""Texts of JPEG files: comments, EXIF and XMP, read within bounds, never decoding pixels.

Our own record is written in comments: one segment of a file holds at most 65,533 bytes.

Format: ITU-T T.81, annex B.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from engine.metadata.exif import exif_texts
from engine.metadata.texts import RECORD_KEYWORD, TextChunk
from engine.metadata.xmp import xmp_texts

COMMENT = "jpeg:comment"
_APP0, _APP1, _COM, _SCAN, _END = 0xE0, 0xE1, 0xFE, 0xDA, 0xD9
_FILL = b"\xff\xff"
_EXIF, _XMP = b"Exif\0\0", b"http://ns.adobe.com/xap/1.0/\0"
# Segments before the first scan; a colour profile in pieces needs hundreds.
_MAX_SEGMENTS = 10_000
# stable-diffusion.cpp's comment starts like a PNG chunk.
_SDCPP = b"parameters\0"
# Our own record's comments, which follow each other.
_RECORD = b"safelight\0"
_MOST_BYTES = 65_533


def jpeg_texts(file: BinaryIO) -> Iterator[TextChunk]:
    """Yield the texts before the first scan of an open JPEG file, in order."""
    file.seek(2)
    record: list[bytes] = []
    for _ in range(_MAX_SEGMENTS):
        head = file.read(4)
        # Any number of further bytes may be before a marker (B.1.1.2).
        while head[:2] == _FILL:
            head = head[1:] + file.read(1)
        if len(head) < 4 or head[0] != 0xFF or head[1] in (_SCAN, _END):
            break
        (length,) = struct.unpack(">H", head[2:])
        if head[1] not in (_APP1, _COM):
            file.seek(length - 2, 1)
            continue
        body = file.read(max(length - 2, 0))
        if head[1] == _COM and body.startswith(_RECORD):
            record.append(body.removeprefix(_RECORD))
        elif head[1] == _COM:
            yield _comment(body)
        elif body.startswith(_EXIF):
            yield from exif_texts(body)
        elif body.startswith(_XMP):
            yield from xmp_texts(body)
    if record:
        yield TextChunk(RECORD_KEYWORD, b"".join(record).decode("utf-8", "replace"))


def segment_holds(body: bytes) -> bool:
    """Return True if a segment is large enough for these bytes."""
    return len(body) <= _MOST_BYTES


def insert_record(jpeg: bytes, record: str) -> bytes:
    """Return an encoded JPEG file with our own record, a text in ASCII, before its pixels."""
    place = 2
    # What begins a file of its kind stays at the beginning.
    while jpeg[place] == 0xFF and jpeg[place + 1] in (_APP0, _APP1):
        place += 2 + struct.unpack_from(">H", jpeg, place + 2)[0]
    piece = _MOST_BYTES - len(_RECORD)
    text = record.encode("ascii")
    bodies = (_RECORD + text[at : at + piece] for at in range(0, len(text), piece))
    segments = (struct.pack(">BBH", 0xFF, _COM, len(body) + 2) + body for body in bodies)
    return b"".join((jpeg[:place], *segments, jpeg[place:]))


def _comment(body: bytes) -> TextChunk:
    keyword = "parameters" if body.startswith(_SDCPP) else COMMENT
    text = body.removeprefix(_SDCPP).partition(b"\0")[0]
    return TextChunk(keyword, text.decode("utf-8", "replace"))
