"""Files with some bytes changed are read or refused; nothing else comes of them.

Each class has one sound file, and ways to change it: single bits, bytes and runs of them, lengths,
pieces that are repeated, left out or put elsewhere, and numbers at the edges of their types.
"""

import io
import random
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.checkpoints.files import read_index
from engine.checkpoints.torch_instructions import PickleDamaged, PickleRefused
from engine.checkpoints.torch_pickle import read_pickle
from engine.errors import EngineError
from engine.metadata.readers import read_request
from engine.pipeline.canvas.pictures import read_mask, read_picture
from tests.checkpoints import files, hostile_torch
from tests.metadata.records import SIGNATURE, chunk

EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
INFOTEXT = (
    "a cat, (dog:1.2)\nNegative prompt: rain\nSteps: 20, Sampler: Euler a, CFG scale: 7, "
    "Seed: 1, Size: 512x512, Model hash: 0123456789, Version: v1.10.1"
)
SHAPES = {"a.weight": (4, 4), "b.bias": (8,), "c": (), "d": (2, 0, 3)}
HEADER, DATA_BYTES = files.header(SHAPES, metadata={"modelspec.title": "x"})


def mutated(raw: bytes, choose: random.Random) -> bytes:
    """The bytes with one to four changes."""
    content = bytearray(raw)
    for _ in range(choose.randint(1, 4)):
        place = choose.randrange(len(content) or 1)
        length = choose.choice((1, 1, 2, 4, 8, 64))
        match choose.randrange(7):
            case 0 if content:
                content[place % len(content)] ^= 1 << choose.randrange(8)
            case 1:
                content[place : place + length] = choose.randbytes(length)
            case 2:
                del content[place : place + length]
            case 3:
                content[place:place] = content[place : place + length] * choose.choice((1, 50))
            case 4:
                width, order = choose.choice((1, 2, 4, 8)), choose.choice(("little", "big"))
                edge = choose.choice(EDGES) % (1 << 8 * width)
                content[place : place + width] = edge.to_bytes(width, order)
            case 5:
                other = choose.randrange(len(content) or 1)
                content[place : place + length] = content[other : other + length]
            case _:
                content[place:place] = choose.choice((b"[", b"{", b'"', b"\0", b"\xff", b"\\u"))
    return bytes(content)


def weights(raw: bytes, path: Path) -> None:
    """A safetensors file with this header."""
    with suppress(EngineError):
        read_index(files.write_raw(path, raw, DATA_BYTES))


def pickled(raw: bytes, _: Path) -> None:
    """Read a pickle as the child process for PyTorch files does."""
    with suppress(PickleDamaged, PickleRefused):
        read_pickle(io.BytesIO(raw))


def picture(raw: bytes, path: Path) -> None:
    """A picture whose texts and pixels are read."""
    path.write_bytes(raw)
    for read in (read_request, read_picture, read_mask):
        with suppress(EngineError):
            read(path)


def right_sums(raw: bytes, path: Path) -> None:
    """A PNG whose checksums are right, whatever is in its chunks."""
    made, place = SIGNATURE, len(SIGNATURE)
    while place + 12 <= len(raw):
        (length,) = struct.unpack_from(">I", raw, place)
        body = raw[place + 4 : place + 8 + min(length, len(raw))]
        made += raw[place : place + 4] + body + struct.pack(">I", zlib.crc32(body))
        place += 12 + length
    picture(made, path)


def sound(form: str) -> bytes:
    """A small picture with a text, an orientation and transparency where it may have one."""
    pixels = np.random.default_rng(0).integers(0, 256, (24, 24, 4), np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x9286] = b"UNICODE\0" + INFOTEXT.encode("utf-16-le")
    out = io.BytesIO()
    image = Image.fromarray(pixels if form != "JPEG" else pixels[..., :3].copy())
    image.save(out, form, exif=exif)
    raw = out.getvalue()
    if form != "PNG":
        return raw
    end = 8 + 25
    texts = chunk(b"tEXt", b"parameters\0" + INFOTEXT.encode())
    texts += chunk(b"zTXt", b"prompt\0\0" + zlib.compress(b'{"1": {"class_type": "KSampler"}}'))
    texts += chunk(b"iTXt", b"Comment\0\0\0\0\0" + b'{"prompt": "a", "uc": "b"}')
    return raw[:end] + texts + raw[end:]


CLASSES: dict[str, tuple[bytes, Callable[[bytes, Path], None]]] = {
    "safetensors": (HEADER, weights),
    "pickle": (b"\x80\x02" + hostile_torch.named(3, 4) + b".", pickled),
    "pickle of protocol 4": (
        b"\x80\x04\x95" + bytes(8) + b"}\x94(\x8c\x01a\x94\x8a\x01\x05\x8c\x01b\x94]\x94(K\x01NeuB"
        b"\x01\0\0\0x0.",
        pickled,
    ),
    **{form: (sound(form), picture) for form in ("PNG", "JPEG", "WEBP")},
    "PNG with right sums": (sound("PNG"), right_sums),
}


def try_all(name: str, folder: Path, seed: int, count: int) -> None:
    raw, read = CLASSES[name]
    choose = random.Random(seed)
    path = folder / "mutated"
    for number in range(count):
        content = mutated(raw, choose)
        try:
            read(content, path)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}, number {number}: {content!r}")
            raise


@pytest.mark.parametrize("name", CLASSES)
def test_the_mutated_file_is_sound_at_first(name: str, tmp_path: Path) -> None:
    """Or the changes would all fail at the first look."""
    raw, _ = CLASSES[name]
    path = tmp_path / "sound"
    if name == "safetensors":
        assert len(read_index(files.write_raw(path, raw, DATA_BYTES)).tensors) == len(SHAPES)
    elif name.startswith("pickle"):
        assert read_pickle(io.BytesIO(raw))
    else:
        path.write_bytes(raw)
        assert read_picture(path).size == (24, 24)
        assert read_request(path).request.seed == 1


@pytest.mark.parametrize("name", CLASSES)
def test_a_changed_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    try_all(name, tmp_path, 0, 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("name", CLASSES)
def test_many_changed_files_are_read_or_refused(name: str, seed: int, tmp_path: Path) -> None:
    try_all(name, tmp_path, seed, 20_000)
