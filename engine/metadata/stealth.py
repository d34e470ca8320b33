"""Text hidden in the lowest bits of a picture's alpha channel. Decodes pixels, within bounds.

Format: "stealth pnginfo" as in `nai_meta.py` of NovelAI/novelai-image-metadata and SwarmUI's
`MetadataHelper.cs`. Bits run down the columns, the first column first: a mark of 15 characters, the
number of bits that follow (32 bits, big-endian), and the text, compressed by gzip if the mark says
so.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from engine.metadata.json_text import parse_object
from engine.metadata.png import SIGNATURE as PNG_SIGNATURE
from engine.metadata.texts import TextChunk
from engine.metadata.webp import is_webp
from engine.regular_file import open_regular

MAX_PIXELS = 16_000_000
_PACKED, _PLAIN = b"stealth_pngcomp", b"stealth_pnginfo"
_HEAD_BYTES = len(_PACKED) + 4
_MAX_BYTES, _MAX_TEXT_BYTES = 1 << 20, 4 << 20
_GZIP = 31
_RGBA, _WEBP_ALPHA = 6, 0x10
# Maps each value to its lowest bit, as black or white, which Pillow packs.
_LOWEST_BIT = [255 * (value & 1) for value in range(256)]


def read_stealth(path: Path) -> tuple[TextChunk, ...]:
    """Return the texts hidden in a PNG or WebP file; none if it has none or cannot be decoded.

    A JSON object gives one text per entry, like NovelAI's PNG chunks; any other text gets the
    keyword "parameters".
    """
    bits = _alpha_bits(path)
    head = bits[:_HEAD_BYTES]
    if len(head) < _HEAD_BYTES or head[:-4] not in (_PACKED, _PLAIN):
        return ()
    (count,) = struct.unpack(">I", head[-4:])
    data = bits[_HEAD_BYTES : _HEAD_BYTES + count // 8]
    if len(data) != count // 8:
        return ()
    text = _unpack(data) if head[:-4] == _PACKED else data
    return tuple(_texts(text.decode("utf-8", "replace")))


def _alpha_bits(path: Path) -> bytes:
    """Return the lowest bits of the alpha channel, eight per byte; empty without alpha."""
    if not _has_alpha(path):
        return b""
    # Only this function decodes pixels, so only its callers load the decoder.
    from PIL import Image

    from engine.metadata.opening import PictureFault, open_picture

    try:
        with open_picture(path, ("PNG", "WEBP"), MAX_PIXELS) as image:
            if image.mode != "RGBA":
                return b""
            alpha = image.getchannel("A").transpose(Image.Transpose.TRANSPOSE).tobytes()
    except PictureFault:
        return b""
    count = min(len(alpha), 8 * (_HEAD_BYTES + _MAX_BYTES)) // 8 * 8
    if not count:
        return b""
    row = Image.frombytes("L", (count, 1), alpha[:count])
    return row.point(_LOWEST_BIT, "1").tobytes()


def _has_alpha(path: Path) -> bool:
    """True if a file's header is that of a PNG or WebP with alpha and not too many pixels."""
    try:
        with open_regular(path) as file:
            head = file.read(30)
    except OSError:
        return False
    if len(head) < 30:
        return False
    if head.startswith(PNG_SIGNATURE):
        width, height, _, colours = struct.unpack_from(">IIBB", head, 16)
        return colours == _RGBA and width * height <= MAX_PIXELS
    if not is_webp(head):
        return False
    if head[12:16] == b"VP8X":
        width, height = (1 + int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
        return bool(head[20] & _WEBP_ALPHA) and width * height <= MAX_PIXELS
    # Lossless: 14 bits each of width and height, then the alpha flag.
    sizes = int.from_bytes(head[21:25], "little")
    width, height = 1 + (sizes & 0x3FFF), 1 + (sizes >> 14 & 0x3FFF)
    return head[12:16] == b"VP8L" and bool(sizes >> 28 & 1) and width * height <= MAX_PIXELS


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        return unpacker.decompress(data, _MAX_TEXT_BYTES)
    except zlib.error:
        return b""


def _texts(text: str) -> Iterator[TextChunk]:
    fields = parse_object(text)
    if "Comment" in fields:
        for key, value in fields.items():
            if isinstance(value, str):
                yield TextChunk(key, value)
    elif text:
        yield TextChunk("parameters", text)
