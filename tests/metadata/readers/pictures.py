"""Pictures of one pixel with what a tool would have written into them."""

import struct
from pathlib import Path

from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import ImportedRequest, read_request, recognise
from engine.metadata.texts import TextChunk
from tests.metadata.records import PNG


def imported(folder: Path, *chunks: TextChunk) -> ImportedRequest:
    """The request that is read from a PNG file with these texts."""
    path = folder / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, chunks))
    return read_request(path)


def recognised(*texts: tuple[str, str]) -> ImportedRequest:
    """The request that is read from texts, each a keyword and its text."""
    found = recognise(tuple(TextChunk(*text) for text in texts))
    assert found is not None
    return found


def from_text(folder: Path, text: str) -> ImportedRequest:
    """The request that is read from a PNG file with this "parameters" text."""
    return imported(folder, TextChunk("parameters", text))


def user_comment(text: str, *, order: str = ">", mark: bytes = b"UNICODE\0") -> bytes:
    """EXIF data as piexif writes it (order ">"), or as .NET does: one tag in the Exif directory."""
    coding = {">": "utf-16-be", "<": "utf-16-le"}[order] if mark == b"UNICODE\0" else "utf-8"
    return exif({}, {0x9286: (7, mark + text.encode(coding))}, order)


def exif(
    first: dict[int, tuple[int, bytes]], second: dict[int, tuple[int, bytes]], order: str = ">"
) -> bytes:
    """EXIF data with two directories of tags, each with its type and value."""
    mark = b"MM\0*" if order == ">" else b"II*\0"
    linked = {**first, 0x8769: (4, b"")} if second else first
    start = 8 + 2 + 12 * len(linked) + 4
    after = start + (2 + 12 * len(second) + 4 if second else 0)
    values = b""

    def directory(tags: dict[int, tuple[int, bytes]]) -> bytes:
        nonlocal values
        written = struct.pack(order + "H", len(tags))
        for tag, (kind, value) in sorted(tags.items()):
            if tag == 0x8769:
                written += struct.pack(order + "HHII", tag, 4, 1, start)
            elif len(value) <= 4:
                written += struct.pack(order + "HHI4s", tag, kind, len(value), value)
            else:
                place = after + len(values)
                written += struct.pack(order + "HHII", tag, kind, len(value), place)
                values += value
        return written + bytes(4)

    head = mark + struct.pack(order + "I", 8) + directory(linked)
    return head + (directory(second) if second else b"") + values


def jpeg(*segments: tuple[int, bytes]) -> bytes:
    """A JPEG file, as far as its first scan, with these segments: marker and body."""
    written = [
        struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body
        for marker, body in ((0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), *segments)
    ]
    return b"\xff\xd8" + b"".join(written) + b"\xff\xda\0\x02\xff\xd9"


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    """A WebP file with these chunks after its header's."""
    written = [
        kind + struct.pack("<I", len(value)) + value + b"\0" * (len(value) % 2)
        for kind, value in ((b"VP8X", bytes(10)), *chunks)
    ]
    body = b"WEBP" + b"".join(written)
    return b"RIFF" + struct.pack("<I", len(body)) + body
