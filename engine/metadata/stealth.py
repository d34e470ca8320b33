"""Text hidden in the lowest bits of a picture's pixels, which are decoded within bounds.

Format: "stealth pnginfo" as in `nai_meta.py` of NovelAI/novelai-image-metadata, SwarmUI's
`MetadataHelper.cs` and `stealth_infotext.py` of reForge. Bits run down the columns, the first
column first, those of alpha or those of red, green and blue in turn: a mark of 15 characters, the
number of bits that follow (32 bits, big-endian), and the text, compressed by gzip if the mark says
so.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.metadata.json_text import parse_object
from engine.metadata.picture_kinds import PictureKind, kind_of_head
from engine.metadata.texts import TextChunk
from engine.regular_file import open_regular

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 16_000_000
# The marks by the channels that hold a text, and whether it is compressed.
_MARKS = {
    "A": {b"stealth_pngcomp": True, b"stealth_pnginfo": False},
    "RGB": {b"stealth_rgbcomp": True, b"stealth_rgbinfo": False},
}
_HEAD_BYTES = 15 + 4
_MAX_BYTES, _MAX_TEXT_BYTES = 1 << 20, 4 << 20
_GZIP = 31
_COLOURS, _WEBP_ALPHA = (2, 6), 0x10
# Maps each value to its lowest bit, as black or white, which Pillow packs.
_LOWEST_BIT = [255 * (value & 1) for value in range(256)]


def read_stealth(path: Path) -> tuple[TextChunk, ...]:
    """Return the texts hidden in a PNG or WebP file; none if it has none or cannot be decoded.

    A JSON object gives one text per entry, like NovelAI's PNG chunks; any other text gets the
    keyword "parameters".
    """
    if not _may_hide(path):
        return ()
    # Only this function decodes pixels, so only its callers load the decoder.
    from engine.metadata.opening import PictureFault, open_picture

    try:
        with open_picture(path, ("PNG", "WEBP"), MAX_PIXELS) as image:
            if image.mode not in ("RGB", "RGBA"):
                return ()
            alpha = _hidden(image.getchannel("A"), "A") if image.mode == "RGBA" else b""
            text = alpha or _hidden(image.convert("RGB"), "RGB")
    except PictureFault:
        return ()
    return tuple(_texts(text.decode("utf-8", "replace")))


def _hidden(image: "Image", channels: str) -> bytes:
    """Return the text in the lowest bits of a picture of these channels; empty if there is none."""
    head = _bits(image, _HEAD_BYTES)
    is_packed = _MARKS[channels].get(head[:-4])
    if is_packed is None:
        return b""
    (count,) = struct.unpack(">I", head[-4:])
    if count > 8 * _MAX_BYTES:
        return b""
    data = _bits(image, _HEAD_BYTES + count // 8)[_HEAD_BYTES:]
    if len(data) != count // 8:
        return b""
    return _unpack(data) if is_packed else data


def _bits(image: "Image", count: int) -> bytes:
    """Return the first lowest bits, eight to each of `count` bytes, fewer of a small picture."""
    from PIL import Image

    columns = -(-8 * count // (image.height * len(image.getbands())))
    part = image.crop((0, 0, min(columns, image.width), image.height))
    values = part.transpose(Image.Transpose.TRANSPOSE).tobytes()
    length = min(len(values) // 8, count)
    if not length:
        return b""
    row = Image.frombytes("L", (8 * length, 1), values[: 8 * length])
    return row.point(_LOWEST_BIT, "1").tobytes()


def _may_hide(path: Path) -> bool:
    """Tell whether a file's header is that of a PNG in colours, or of a WebP that keeps bits.

    Those are lossless ones, and those whose alpha is. False for too many pixels.
    """
    try:
        with open_regular(path) as file:
            head = file.read(30)
    except OSError:
        return False
    if len(head) < 30:
        return False
    kind = kind_of_head(head)
    if kind is PictureKind.PNG:
        width, height, _, colours = struct.unpack_from(">IIBB", head, 16)
        return colours in _COLOURS and width * height <= MAX_PIXELS
    if kind is not PictureKind.WEBP:
        return False
    if head[12:16] == b"VP8X":
        width, height = (1 + int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
        return bool(head[20] & _WEBP_ALPHA) and width * height <= MAX_PIXELS
    # Lossless: 14 bits each of width and height.
    sizes = int.from_bytes(head[21:25], "little")
    width, height = 1 + (sizes & 0x3FFF), 1 + (sizes >> 14 & 0x3FFF)
    return head[12:16] == b"VP8L" and width * height <= MAX_PIXELS


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
