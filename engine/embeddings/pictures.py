"""Embeddings in pictures, which A1111 saves while it trains: as text, or in the pixels.

The text `sd-ti-embedding` is base64 of JSON. In the pixels, a block on either side of the picture,
apart from it by black columns, has 4 bits of a compressed JSON in each number. Reference:
`modules/textual_inversion/image_embedding.py`.
"""

import base64
import binascii
import zlib
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.sentences import sentence
from engine.embeddings.embedding import ANY, Embedding
from engine.embeddings.faults import damaged, no_embedding
from engine.errors import EngineError
from engine.metadata.pictures import read_text_chunks
from engine.untrusted_json import JsonError, decode_json

_KEYWORD = "sd-ti-embedding"
# A picture with an embedding of 75 vectors has three million pixels.
_MOST_PIXELS = 32_000_000
_MOST_JSON_BYTES = 64 << 20
# The linear congruential generator that masks the blocks (Numerical Recipes).
_FACTOR, _SUMMAND = 1664525, 1013904223
_MOST_VECTORS = 4096

Pixels = NDArray[np.uint8]


class _Numbers(msgspec.Struct):
    TORCHTENSOR: list[list[float]]


class _Saved(msgspec.Struct):
    string_to_param: dict[str, _Numbers]
    name: str = ""
    step: int | None = None
    sd_checkpoint_name: str | None = None


_DECODER = msgspec.json.Decoder(_Saved)


def read_picture(path: Path, stem: str) -> Embedding:
    """Return the embedding in a picture; its name is the saved one, else `stem`.

    Raises EngineError for a picture without an embedding, and for a damaged one.
    """
    saved = _json_of(path)
    if saved is None:
        raise no_embedding(path, sentence("the picture holds none"))
    try:
        content = decode_json(saved, _DECODER)
        tensor = next(iter(content.string_to_param.values()))
        vectors = np.array(tensor.TORCHTENSOR, np.float32)
    except (JsonError, StopIteration, ValueError) as error:
        raise damaged(path, sentence("the embedding in the picture cannot be read")) from error
    sound = vectors.ndim == 2 and vectors.size and np.isfinite(vectors).all()
    if not sound or len(vectors) > _MOST_VECTORS:
        raise damaged(path, sentence("its vectors have the shape {list}", list=list(vectors.shape)))
    name = content.name or stem
    return Embedding(
        name,
        {ANY: vectors},
        path,
        content.name,
        steps=content.step,
        trained_on=content.sd_checkpoint_name or "",
    )


def name_in_picture(path: Path) -> str | None:
    """Return the name of the embedding in a picture; None for a picture without an embedding.

    A damaged one has the file's name: reading it tells the damage.
    """
    try:
        saved = _json_of(path)
        return None if saved is None else decode_json(saved, _DECODER).name or path.stem
    except (EngineError, JsonError):
        return path.stem if _has_text(path) else None


def _has_text(path: Path) -> bool:
    try:
        return any(chunk.keyword == _KEYWORD for chunk in read_text_chunks(path))
    except EngineError:
        return False


def _json_of(path: Path) -> bytes | None:
    """Return the JSON of the embedding in a picture; None if it has none. Raises EngineError."""
    text = next((c.text for c in read_text_chunks(path) if c.keyword == _KEYWORD), None)
    if text is None:
        return _from_pixels(path)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise damaged(path, sentence("the embedding in the picture cannot be read")) from error


def _from_pixels(path: Path) -> bytes | None:
    # Only this function decodes pixels, so only its callers load the decoder.
    from engine.metadata.opening import PictureFault, open_picture

    try:
        with open_picture(path, ("PNG", "WEBP"), _MOST_PIXELS) as image:
            pixels = np.asarray(image.convert("RGB"))
    except PictureFault as fault:
        raise damaged(path, fault.reason) from fault
    blocks = _blocks(pixels)
    if blocks is None:
        return None
    low, high = (_unmasked(block) for block in blocks)
    packed = (high << np.uint8(4) | low).tobytes()
    try:
        unpacker = zlib.decompressobj()
        return unpacker.decompress(packed, _MOST_JSON_BYTES) if packed else None
    except zlib.error:  # a picture with black columns of its own
        return None


def _blocks(pixels: Pixels) -> tuple[Pixels, Pixels] | None:
    """Return the low 4 bits of the blocks left and right of the picture; None if not alike."""
    lit = (pixels > 0).all(2)
    columns, rows = np.flatnonzero(lit.any(axis=0)), np.flatnonzero(lit.any(axis=-1))
    if not columns.size:
        return None
    low_bits = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] & np.uint8(0x0F)
    black = np.flatnonzero(low_bits.sum(axis=(0, 2)) == 0)
    if black.size < 2:
        return None
    left, right = low_bits[:, : black[0]], low_bits[:, black[-1] + 1 :]
    return (left, right) if left.size and left.shape == right.shape else None


def _unmasked(block: Pixels) -> Pixels:
    return block ^ (_random_bytes(block.size).reshape(block.shape) & np.uint8(0x0F))


@lru_cache(maxsize=1)
def _random_bytes(count: int) -> Pixels:
    """Return the first values of the generator modulo 255, uint8 [count].

    A run of n values continues as the same run, each value advanced n times, which is linear.
    """
    factor, summand = _FACTOR, _SUMMAND
    values = np.array([_SUMMAND], np.uint32)
    while len(values) < count:
        advanced = values * np.uint32(factor) + np.uint32(summand)
        values = np.concatenate([values, advanced])
        factor, summand = factor * factor % 2**32, (factor * summand + summand) % 2**32
    return (values[:count] % 255).astype(np.uint8)
