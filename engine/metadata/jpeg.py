"""Texts of JPEG files: comments, EXIF and XMP; read within bounds, never decoding pixels.

Format: ITU-T T.81, annex B.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from engine.metadata.exif import exif_texts
from engine.metadata.texts import TextChunk
from engine.metadata.xmp import xmp_texts

SIGNATURE = b"\xff\xd8\xff"
COMMENT = "jpeg:comment"
_APP1, _COM, _SCAN, _END = 0xE1, 0xFE, 0xDA, 0xD9
_EXIF, _XMP = b"Exif\0\0", b"http://ns.adobe.com/xap/1.0/\0"
# Segments before the first scan; a colour profile in pieces needs hundreds.
_MAX_SEGMENTS = 10_000
# stable-diffusion.cpp's comment starts like a PNG chunk.
_SDCPP = b"parameters\0"


def jpeg_texts(file: BinaryIO) -> Iterator[TextChunk]:
    """Yield the texts before the first scan of an open JPEG file, in order."""
    file.seek(2)
    for _ in range(_MAX_SEGMENTS):
        head = file.read(4)
        if len(head) < 4 or head[0] != 0xFF or head[1] in (_SCAN, _END):
            return
        (length,) = struct.unpack(">H", head[2:])
        if head[1] not in (_APP1, _COM):
            file.seek(length - 2, 1)
            continue
        body = file.read(max(length - 2, 0))
        if head[1] == _COM:
            yield _comment(body)
        elif body.startswith(_EXIF):
            yield from exif_texts(body)
        elif body.startswith(_XMP):
            yield from xmp_texts(body)


def _comment(body: bytes) -> TextChunk:
    keyword = "parameters" if body.startswith(_SDCPP) else COMMENT
    text = body.removeprefix(_SDCPP).partition(b"\0")[0]
    return TextChunk(keyword, text.decode("utf-8", "replace"))
