"""Texts of WebP files: EXIF and XMP; read within bounds, never decoding pixels.

Format: RFC 9649 (RIFF chunks of even length).
"""

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

from engine.metadata.exif import exif_texts
from engine.metadata.texts import MAX_TEXT_BYTES, TextChunk
from engine.metadata.xmp import xmp_texts

# An animation has a chunk for each of its frames.
_MAX_CHUNKS = 100_000
_READERS = {b"EXIF": exif_texts, b"XMP ": xmp_texts}


def webp_texts(file: BinaryIO) -> Iterator[TextChunk]:
    """Return the texts of an open WebP file's first EXIF and first XMP chunk, in file order."""
    size = os.fstat(file.fileno()).st_size
    offset = 12
    wanted = dict(_READERS)
    for _ in range(_MAX_CHUNKS):
        file.seek(offset)
        head = file.read(8)
        if len(head) < 8 or not wanted:
            return
        kind, length = struct.unpack("<4sI", head)
        offset += 8 + length + length % 2
        # The last chunk's padding may be missing.
        if offset > size + 1:
            return
        read = wanted.pop(kind, None)
        if read and length <= MAX_TEXT_BYTES:
            yield from read(file.read(length))
