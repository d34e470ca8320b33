"""Reader and writer of the text chunks of PNG files; reading is bounded even for hostile files.

Format: PNG specification, third edition, 11.3.3 (tEXt, zTXt, iTXt) and 11.3.4.6 (eXIf). Pixels are
never decoded.
"""

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from engine.api import ErrorCode
from engine.api.sentences import sentence
from engine.errors import EngineError
from engine.metadata.exif import exif_texts
from engine.metadata.picture_kinds import PNG_SIGNATURE
from engine.metadata.texts import MAX_TEXT_BYTES, MAX_TEXTS, TextChunk

# Chunks of any kind. Large pictures hold tens of thousands of IDAT chunks of 8 KiB.
_MAX_CHUNKS = 200_000
# Signature, then IHDR: length, kind, 13 bytes and the checksum.
_HEADER_END = len(PNG_SIGNATURE) + 25
_KEYWORD_BYTES = 79
# The signature and IHDR as far as the size.
HEAD_BYTES = 24


def png_size(head: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG of which these are the first bytes; None of other files."""
    if len(head) < HEAD_BYTES or not head.startswith(PNG_SIGNATURE) or head[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def png_texts(file: BinaryIO) -> Iterator[TextChunk]:
    """Yield the texts of an open PNG file, in order, except damaged and excessive chunks."""
    size = os.fstat(file.fileno()).st_size
    offset = len(PNG_SIGNATURE)
    budget = MAX_TEXT_BYTES
    seen = 0
    for _ in range(_MAX_CHUNKS):
        file.seek(offset)
        header = file.read(8)
        if len(header) < 8 or seen >= MAX_TEXTS:
            return
        length, kind = struct.unpack(">I4s", header)
        offset += 12 + length
        if offset > size or kind == b"IEND":
            return
        if kind not in _TEXT and kind != b"eXIf":
            continue
        seen += 1
        if length > budget:
            continue
        body = file.read(length)
        if file.read(4) != _checksum(kind, body):
            continue
        if kind == b"eXIf":
            budget -= length
            yield from exif_texts(body)
            continue
        keyword, text = _split(kind, body, budget)
        if text is None:
            # A malformed chunk may cost as much to unpack as a good one: halving the budget each
            # time bounds the total.
            budget //= 2
            continue
        budget -= len(text)
        try:
            yield TextChunk(keyword, text.decode("utf-8" if kind == b"iTXt" else "latin-1"))
        except UnicodeDecodeError:
            continue


def _split(kind: bytes, body: bytes, limit: int) -> tuple[str, bytes | None]:
    """Return a chunk's keyword, and its text, or None if it is malformed or exceeds `limit`."""
    keyword, separator, rest = body.partition(b"\0")
    is_good = separator and 1 <= len(keyword) <= _KEYWORD_BYTES
    return keyword.decode("latin-1"), _TEXT[kind](rest, limit) if is_good else None


def _plain_text(rest: bytes, limit: int) -> bytes | None:
    """Decode the part of a tEXt chunk after its keyword: the text."""
    return rest if len(rest) <= limit else None


def _compressed_text(rest: bytes, limit: int) -> bytes | None:
    """Decode the part of a zTXt chunk after its keyword: method and compressed text."""
    return _inflate(rest[1:], limit) if rest[:1] == b"\0" else None


def _international_text(rest: bytes, limit: int) -> bytes | None:
    """Decode the part of an iTXt chunk after its keyword.

    The fields are: compression flag, method, language, translated keyword, text.
    """
    fields = rest[2:].split(b"\0", 2)
    if len(fields) < 3:
        return None
    if rest[:1] == b"\0":
        return fields[2]
    return _inflate(fields[2], limit) if rest[:2] == b"\1\0" else None


def _inflate(data: bytes, limit: int) -> bytes | None:
    """Unpack a complete zlib stream of at most `limit` bytes, without ever holding more."""
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, limit + 1)
    except zlib.error:
        return None
    return text if unpacker.eof and len(text) <= limit else None


_TEXT = {b"tEXt": _plain_text, b"zTXt": _compressed_text, b"iTXt": _international_text}


def insert_text_chunks(png: bytes, chunks: Sequence[TextChunk]) -> bytes:
    """Return an encoded PNG with the chunks added before its pixels.

    Chunks are tEXt if the text is Latin-1, else iTXt; lone surrogates, which UTF-8 cannot encode,
    become "?".
    """
    if not png.startswith(PNG_SIGNATURE) or png[12:16] != b"IHDR":
        raise EngineError(ErrorCode.INTERNAL, sentence("Text cannot be added: this is no PNG."))
    encoded = (_encode(chunk) for chunk in chunks)
    return b"".join([png[:_HEADER_END], *encoded, png[_HEADER_END:]])


def _encode(chunk: TextChunk) -> bytes:
    keyword = chunk.keyword.encode("latin-1") + b"\0"
    try:
        kind, body = b"tEXt", keyword + chunk.text.encode("latin-1")
    except UnicodeEncodeError:
        # Uncompressed, without a language or a translated keyword.
        kind, body = b"iTXt", keyword + b"\0\0\0\0" + chunk.text.encode("utf-8", "replace")
    return struct.pack(">I4s", len(body), kind) + body + _checksum(kind, body)


def _checksum(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))
