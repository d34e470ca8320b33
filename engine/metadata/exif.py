"""Texts in the EXIF data of JPEG, WebP and PNG files: read within bounds, and written.

Format: CIPA DC-008 (Exif 2.32), TIFF 6.0. Reads only the first directory and its Exif directory,
and only the tags that tools write.
"""

import struct
from collections.abc import Iterator

import msgspec

from engine.metadata.texts import RECORD_KEYWORD, TextChunk

USER_COMMENT = "exif:UserComment"
_USER_COMMENT_TAG, _MAKER_NOTE_TAG, _EXIF_DIRECTORY_TAG = 0x9286, 0x927C, 0x8769
_TAGS = {
    0x010E: "exif:ImageDescription",
    0x010F: "exif:Make",
    0x0110: "exif:Model",
    0x0131: "exif:Software",
    _MAKER_NOTE_TAG: "exif:MakerNote",
    _USER_COMMENT_TAG: USER_COMMENT,
}
_PREFIX = b"Exif\0\0"
# Our own record begins so in a maker note, which is for a program's own data.
_RECORD = b"safelight\0"
_LONG, _UNDEFINED = 4, 7
_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_MAX_ENTRIES = 512
# BYTE, ASCII and UNDEFINED: the types of text.
_TEXT_TYPES = frozenset({1, 2, 7})


class _Tiff(msgspec.Struct, frozen=True):
    """TIFF data and its byte order, "<" or ">" as in `struct`."""

    data: bytes
    order: str

    def entries(self, offset: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield tag, type, count and value position of each entry of a directory."""
        if offset < 8 or offset + 2 > len(self.data):
            return
        (count,) = struct.unpack_from(self.order + "H", self.data, offset)
        for index in range(min(count, _MAX_ENTRIES)):
            place = offset + 2 + 12 * index
            if place + 12 > len(self.data):
                return
            tag, kind, length = struct.unpack_from(self.order + "HHI", self.data, place)
            yield tag, kind, length, place + 8

    def number(self, place: int) -> int:
        """Return the unsigned 32-bit number at a position in the data."""
        (value,) = struct.unpack_from(self.order + "I", self.data, place)
        return value


def exif_texts(data: bytes) -> Iterator[TextChunk]:
    """Yield the texts of EXIF data, with or without its "Exif" prefix; none if malformed."""
    data = data.removeprefix(_PREFIX)
    order = _BYTE_ORDERS.get(data[:4])
    if order is None or len(data) < 8:
        return
    tiff = _Tiff(data, order)
    seen: set[int] = set()
    directory: int | None = None
    for tag, kind, length, place in tiff.entries(tiff.number(4)):
        if tag == _EXIF_DIRECTORY_TAG and directory is None:
            directory = tiff.number(place)
        yield from _text(tiff, seen, tag, kind, length, place)
    for tag, kind, length, place in tiff.entries(directory or 0):
        yield from _text(tiff, seen, tag, kind, length, place)


def exif_with(comment: str, record: str = "") -> bytes:
    """Return EXIF data with a UserComment, and our own record as maker note; no empty text.

    The comment is UTF-16 as AUTOMATIC1111 writes it; lone surrogates become "?".
    """
    comment = comment.encode("utf-8", "replace").decode()
    values = {
        _MAKER_NOTE_TAG: _RECORD + record.encode("ascii") if record else b"",
        _USER_COMMENT_TAG: b"UNICODE\0" + comment.encode("utf-16-be") if comment else b"",
    }
    # EXIF wants tags in ascending order.
    entries = sorted((tag, value) for tag, value in values.items() if value)
    inner = 8 + 2 + 12 + 4
    place = inner + 2 + 12 * len(entries) + 4
    first = struct.pack(">HHHIII", 1, _EXIF_DIRECTORY_TAG, _LONG, 1, inner, 0)
    second, values_after = struct.pack(">H", len(entries)), b""
    for tag, value in entries:
        second += struct.pack(">HHII", tag, _UNDEFINED, len(value), place + len(values_after))
        values_after += value
    header = _PREFIX + b"MM\0*" + struct.pack(">I", 8)
    return b"".join((header, first, second, struct.pack(">I", 0), values_after))


def _text(
    tiff: _Tiff, seen: set[int], tag: int, kind: int, length: int, place: int
) -> Iterator[TextChunk]:
    """Yield the text of an entry, each tag once: many entries may point to the same bytes."""
    if tag not in _TAGS or tag in seen or kind not in _TEXT_TYPES:
        return
    start = place if length <= 4 else tiff.number(place)
    if start + length > len(tiff.data):
        return
    seen.add(tag)
    value = tiff.data[start : start + length]
    if tag == _MAKER_NOTE_TAG and value.startswith(_RECORD):
        yield TextChunk(RECORD_KEYWORD, _decoded(value.removeprefix(_RECORD)))
        return
    is_comment = tag == _USER_COMMENT_TAG
    text = decode_user_comment(value, tiff.order) if is_comment else _decoded(value)
    if text:
        yield TextChunk(_TAGS[tag], text)


def decode_user_comment(value: bytes, order: str) -> str:
    """Decode a UserComment: eight bytes name its encoding; some tools write only the text.

    UTF-16 occurs in either byte order, whatever the file's `order` ("<" or ">") is: piexif writes
    it big-endian, .NET little-endian. The byte order is the one in which more high bytes are zero.
    """
    mark, text = value[:8], value[8:]
    match mark:
        case b"UNICODE\0":
            return _utf16(text, order)
        case b"ASCII\0\0\0" | b"\0\0\0\0\0\0\0\0":
            return _decoded(text)
        case b"JIS\0\0\0\0\0":
            return text.decode("iso2022_jp", "replace").strip("\0")
        case _:
            return _decoded(value)


def _utf16(text: bytes, order: str) -> str:
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return text.decode("utf-16", "replace").strip("\0")
    even, odd = text[0::2].count(0), text[1::2].count(0)
    if even != odd:
        order = ">" if even > odd else "<"
    encoding = "utf-16-be" if order == ">" else "utf-16-le"
    return text.decode(encoding, "replace").strip("\0")


def _decoded(text: bytes) -> str:
    """Decode UTF-8, which includes ASCII, else Latin-1."""
    text = text.strip(b"\0")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
