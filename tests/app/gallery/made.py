"""Small picture files with the metadata of several tools, each with pixels of its own."""

import os
import struct
import zlib
from pathlib import Path

import msgspec

from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from engine.metadata.texts import TextChunk
from tests.metadata.records import PLAIN

HOUR_NS = 3_600_000_000_000


def png(number: int, width: int = 1, height: int = 1) -> bytes:
    """Return a picture whose first pixel has this colour; its header may claim another size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" + number.to_bytes(3, "big"))
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in chunks)


def chunk(kind: bytes, body: bytes) -> bytes:
    """Return a PNG chunk."""
    checksum = zlib.crc32(body, zlib.crc32(kind))
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", checksum)


def ours(number: int, prompt: str, *, seed: int = 1, model: str = "dream") -> bytes:
    """Return a picture with our own record."""
    request = msgspec.structs.replace(
        PLAIN.request, prompt=prompt, seed=seed, checkpoint=f"/models/{model}.safetensors"
    )
    record = msgspec.structs.replace(PLAIN, request=request)
    return insert_text_chunks(png(number), record_chunks(record))


def theirs(number: int, prompt: str, *, seed: int = 1, model: str = "dream") -> bytes:
    """Return a picture as AUTOMATIC1111 writes it."""
    text = (
        f"{prompt}\nNegative prompt: blurry\n"
        f"Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: {seed}, Size: 512x512, Model: {model}"
    )
    return insert_text_chunks(png(number), [TextChunk("parameters", text)])


def write(path: Path, content: bytes, hours: float = 0.0) -> Path:
    """Write a file whose time of change lies some hours after 2001-09-09, so long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    at = 1_000_000_000_000_000_000 + int(hours * HOUR_NS)
    os.utime(path, ns=(at, at))
    return path
