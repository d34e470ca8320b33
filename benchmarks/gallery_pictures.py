"""Small pictures for the gallery's benchmark: files of their own, with the metadata of three tools.

A picture is 32 x 32 pixels of noise, 3 kB, with 1 to 3 kB of texts as the tools write them, a
prompt of about forty words in each. A large picture's header takes as long to read, but for the
chunks of its pixels, which are counted.
"""

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from engine.metadata.texts import TextChunk
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, prompt, with_inputs
from tests.metadata.records import PLAIN

_SIDE = 32
_FOLDER = 1000
_WORDS = (
    "a", "an", "the", "red", "blue", "old", "small", "house", "sea", "light", "night", "portrait",
    "woman", "man", "cat", "dog", "castle", "forest", "river", "mountain", "detailed", "quality",
    "masterpiece", "photo", "oil", "painting", "sharp", "focus", "soft", "warm", "golden", "hour",
    "storm", "rain", "snow", "summer", "flowers", "street", "city", "market", "boat", "bridge",
)  # fmt: skip
_MODELS = tuple(f"model {number}" for number in range(12))
_LORAS = tuple(f"style{number}" for number in range(40))


def make_pictures(folder: Path, count: int, say: Callable[[str], None]) -> None:
    """Write pictures into subfolders of a thousand, unless they are there."""
    done = folder / f"{count}.made"
    if done.exists():
        return
    chance = random.Random(1)
    for first in range(0, count, _FOLDER):
        subfolder = folder / f"{first // _FOLDER:03}"
        subfolder.mkdir(parents=True, exist_ok=True)
        for number in range(first, min(first + _FOLDER, count)):
            (subfolder / f"{number:06}.png").write_bytes(_picture(number, chance))
        if first % (20 * _FOLDER) == 0:
            say(f"  {first} pictures made")
    done.touch()


def _picture(number: int, chance: random.Random) -> bytes:
    words = " ".join(chance.choices(_WORDS, k=40))
    model, lora = chance.choice(_MODELS), chance.choice(_LORAS)
    text = f"{words} <lora:{lora}:0.8>"
    match number % 5:
        case 0 | 1:
            chunks = _ours(text, model, number)
        case 2 | 3:
            chunks = _a1111(text, model, number)
        case _:
            chunks = _comfy(text, model, number)
    return insert_text_chunks(_png(chance), chunks)


def _ours(text: str, model: str, seed: int) -> tuple[TextChunk, ...]:
    request = msgspec.structs.replace(
        PLAIN.request, prompt=text, seed=seed, checkpoint=f"/models/{model}.safetensors"
    )
    return record_chunks(msgspec.structs.replace(PLAIN, request=request))


def _a1111(text: str, model: str, seed: int) -> tuple[TextChunk, ...]:
    settings = (
        f"Steps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 7, Seed: {seed}, "
        f"Size: 512x768, Model hash: 879db523c3, Model: {model}, Version: v1.10.1"
    )
    return (TextChunk("parameters", f"{text}\nNegative prompt: blurry, lowres\n{settings}"),)


def _comfy(text: str, model: str, seed: int) -> tuple[TextChunk, ...]:
    graph = with_inputs(TEXT_TO_PICTURE, "3", seed=seed)
    graph = with_inputs(graph, "4", ckpt_name=f"{model}.safetensors")
    return (prompt(with_inputs(graph, "6", text=text)),)


def _png(chance: random.Random) -> bytes:
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + chance.randbytes(3 * _SIDE) for _ in range(_SIDE))
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in parts)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(body, zlib.crc32(kind))
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", checksum)
