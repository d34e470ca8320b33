"""Text in the lowest bits of pixels: written as tools do, damaged, and beyond the bounds."""

import gzip
import io
import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.metadata.readers import read_request
from engine.metadata.stealth import MAX_PIXELS, read_stealth
from engine.metadata.texts import TextChunk
from tests.metadata.readers.samples import NOVELAI, novelai
from tests.metadata.records import SIGNATURE, chunk

# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Neither side is a multiple of 8.
WIDTH, HEIGHT = 101, 67


def hidden(data: bytes, mark: bytes = b"stealth_pngcomp", count: int | None = None) -> bytes:
    """The bits, as `nai_meta_writer.py` of NovelAI/novelai-image-metadata lays them out."""
    return mark + struct.pack(">I", 8 * len(data) if count is None else count) + data


def picture(folder: Path, content: bytes, name: str = "a.png") -> Path:
    """A picture with these bytes in the lowest bits of its alpha, column by column."""
    pixels = np.full((HEIGHT, WIDTH, 4), 0xFF, np.uint8)
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    alpha = pixels[..., 3].T.reshape(-1).copy()
    alpha[: len(bits)] = 0xFE | bits
    pixels[..., 3] = alpha.reshape(WIDTH, HEIGHT).T
    path = folder / name
    Image.fromarray(pixels).save(path, lossless=True, exact=True)
    return path


def test_a_second_header_that_claims_more_than_the_first_is_refused(tmp_path: Path) -> None:
    """The first is looked at before the pixels are decoded; the decoder believes the last."""
    sides = ((8, 8), (2**31 - 1, 2**31 - 1))
    headers = (chunk(b"IHDR", struct.pack(">IIBBBBB", *side, 8, 6, 0, 0, 0)) for side in sides)
    data = chunk(b"IDAT", zlib.compress(bytes(10))) + chunk(b"IEND", b"")
    path = tmp_path / "a.png"
    path.write_bytes(SIGNATURE + b"".join(headers) + data)
    assert read_stealth(path) == ()
    with pytest.raises(EngineError) as caught:
        read_request(path)
    assert caught.value.code is ErrorCode.METADATA_MISSING


TEXTS = dict(novelai("Stable Diffusion XL C1E1DE52"))


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
def test_novelais_hidden_texts_are_read(tmp_path: Path, name: str) -> None:
    path = picture(tmp_path, hidden(gzip.compress(json.dumps(TEXTS).encode())), name)
    assert {text_chunk.keyword: text_chunk.text for text_chunk in read_stealth(path)} == TEXTS
    found = read_request(path)
    assert (found.tool, found.request.seed) == ("NovelAI", NOVELAI["seed"])


@pytest.mark.parametrize("packed", [False, True])
def test_other_text_is_the_common_one(tmp_path: Path, *, packed: bool) -> None:
    text = b"a cat\nSteps: 7, Sampler: Euler, Seed: 1"
    content = hidden(gzip.compress(text)) if packed else hidden(text, b"stealth_pnginfo")
    path = picture(tmp_path, content)
    assert read_stealth(path) == (TextChunk("parameters", text.decode()),)
    assert read_request(path).request.steps == 7


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"stealth_pngcomp",
        hidden(b"", b"stealth_pngxxxx"),
        hidden(b"x", count=2**32 - 1),
        hidden(b"x", count=7),
        hidden(b"not gzip"),
        hidden(gzip.compress(b"", mtime=0)),
    ],
)
def test_nothing_is_hidden(tmp_path: Path, content: bytes) -> None:
    assert read_stealth(picture(tmp_path, content)) == ()


def test_bombs_are_bounded(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(300 << 20), 9)[:500]
    (found,) = read_stealth(picture(tmp_path, hidden(bomb)))
    assert len(found.text) <= 4 << 20


def header(width: int, height: int, colours: int = 6) -> bytes:
    return SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        header(8, 8),
        header(2**31 - 1, 2**31 - 1) + chunk(b"IDAT", zlib.compress(b"")),
        header(MAX_PIXELS, 2) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)),
        header(0, 8) + chunk(b"IDAT", zlib.compress(b"\0")),
        header(8, 8) + chunk(b"IDAT", b"not zlib") + chunk(b"IEND", b""),
        b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\7\0\0\7\0\0",
        b"RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f\7\x40\1\x10\0\0\0\0\0",
        b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\xff\xff\xff\xff\xff\xff",
    ],
)
def test_damaged_and_huge_pictures_are_not_decoded(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert read_stealth(path) == ()
    assert read_stealth(tmp_path / "missing.png") == ()


@IN_ONE_FOLDER
@given(cut=st.integers(0, 3000), junk=st.binary(max_size=40))
def test_garbage_is_read_or_not(tmp_path: Path, cut: int, junk: bytes) -> None:
    whole = picture(tmp_path, hidden(gzip.compress(json.dumps(TEXTS).encode()))).read_bytes()
    path = tmp_path / "b.png"
    for content in (whole[:cut] + junk, whole[:cut] + junk + whole[cut + len(junk) :]):
        path.write_bytes(content)
        assert all(text_chunk.keyword for text_chunk in read_stealth(path))


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_in_red_green_and_blue_is_read(
    tmp_path: Path, mode: str, name: str, *, packed: bool
) -> None:
    """reForge and SwarmUI write it so with "RGB": three bits to each pixel."""
    text = b"a cat\nSteps: 7, Sampler: Euler, Seed: 1"
    mark = b"stealth_rgbcomp" if packed else b"stealth_rgbinfo"
    content = hidden(gzip.compress(text) if packed else text, mark)
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    columns = np.full(3 * WIDTH * HEIGHT, 0xC8, np.uint8)
    columns[: len(bits)] |= bits
    pixels = columns.reshape(WIDTH, HEIGHT, 3).swapaxes(0, 1)
    path = tmp_path / name
    Image.fromarray(np.ascontiguousarray(pixels)).convert(mode).save(path, lossless=True)
    assert read_stealth(path) == (TextChunk("parameters", text.decode()),)
    assert read_request(path).request.steps == 7


def test_pictures_without_colours_do_not_load_the_decoder(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.new("L", (8, 8)).save(file, "PNG")
    path = tmp_path / "a.png"
    path.write_bytes(file.getvalue())
    code = (
        "import sys; from pathlib import Path; from engine.metadata.stealth import read_stealth\n"
        f"assert read_stealth(Path({str(path)!r})) == (); assert 'PIL' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(EngineError) as caught:
        read_request(path)
    assert caught.value.code is ErrorCode.METADATA_MISSING


def test_pictures_with_alpha_are_read_without_numpy(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGBA", (64, 64), (1, 2, 3, 255)).save(path)
    script = (
        "import sys; from pathlib import Path; from engine.metadata.stealth import read_stealth;"
        f"assert read_stealth(Path({str(path)!r})) == ();"
        "assert 'PIL.Image' in sys.modules; assert 'numpy' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
