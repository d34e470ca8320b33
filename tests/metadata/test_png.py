"""Text chunks: round trips, and files made to harm."""

import io
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngInfo

from engine.api import ErrorCode
from engine.errors import EngineError
from engine.metadata.picture_kinds import PictureKind, kind_of_head
from engine.metadata.pictures import read_text_chunks
from engine.metadata.png import insert_text_chunks
from engine.metadata.texts import MAX_TEXT_BYTES, MAX_TEXTS, TextChunk
from tests.metadata.records import END, HEADER, PIXELS, PNG, SIGNATURE, chunk, png_with, text

KEYWORDS = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_categories=["Cc"]),
    min_size=1,
    max_size=79,
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder: Path, content: bytes) -> tuple[TextChunk, ...]:
    path = folder / "picture.png"
    path.write_bytes(content)
    return read_text_chunks(path)


@IN_ONE_FOLDER
@given(chunks=st.lists(st.builds(TextChunk, KEYWORDS, TEXTS), max_size=5))
def test_any_text_comes_back(tmp_path: Path, chunks: list[TextChunk]) -> None:
    assert read(tmp_path, insert_text_chunks(PNG, chunks)) == tuple(chunks)


def test_newlines_and_nulls_are_kept(tmp_path: Path) -> None:
    for value in ("a\r\nb\nc\r", "a\0b", "猫\r\n\0"):
        written = (TextChunk("parameters", value),)
        assert read(tmp_path, insert_text_chunks(PNG, written)) == written


def test_lone_surrogates_do_not_stop_writing(tmp_path: Path) -> None:
    (found,) = read(tmp_path, insert_text_chunks(PNG, [TextChunk("k", "a\ud800b")]))
    assert found.text == "a?b"


@pytest.mark.parametrize(("value", "kind"), [("café", b"tEXt"), ("猫", b"iTXt")])
def test_pillow_reads_what_we_write(value: str, kind: bytes) -> None:
    content = insert_text_chunks(PNG, [TextChunk("parameters", value)])
    assert kind in content
    with Image.open(io.BytesIO(content)) as image:
        assert isinstance(image, PngImageFile)
        assert image.text == {"parameters": value}


@pytest.mark.parametrize("compressed", [False, True])
def test_we_read_what_pillow_writes(tmp_path: Path, *, compressed: bool) -> None:
    info = PngInfo()
    info.add_text("parameters", "Steps: 20\ncafé", zip=compressed)
    info.add_itxt("workflow", "猫", lang="ja", tkey="訳", zip=compressed)
    path = tmp_path / "picture.png"
    Image.new("RGB", (3, 2)).save(path, pnginfo=info)
    assert read_text_chunks(path) == (
        TextChunk("parameters", "Steps: 20\ncafé"),
        TextChunk("workflow", "猫"),
    )


def test_text_after_the_pixels_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER + PIXELS + text("a", "b") + END) == (TextChunk("a", "b"),)


GOOD = text("good", "value")
FLIPPED = text("bad", "value")[:-1] + b"\0"


@pytest.mark.parametrize(
    "bad",
    [
        FLIPPED,
        chunk(b"tEXt", b"no separator"),
        chunk(b"tEXt", b"\0empty keyword"),
        chunk(b"tEXt", b"k" * 80 + b"\0long keyword"),
        chunk(b"tEXt", b""),
        chunk(b"zTXt", b"k\0\1" + zlib.compress(b"other method")),
        chunk(b"zTXt", b"k\0\0not zlib"),
        chunk(b"zTXt", b"k\0\0" + zlib.compress(b"cut" * 100)[:-5]),
        chunk(b"zTXt", b"k\0"),
        chunk(b"iTXt", b"k\0"),
        chunk(b"iTXt", b"k\0\0\0en\0"),
        chunk(b"iTXt", b"k\0\0\0\0\0\xff\xfe"),
        chunk(b"iTXt", b"k\0\2\0\0\0flag"),
        chunk(b"iTXt", b"k\0\1\0\0\0not zlib"),
    ],
)
def test_malformed_chunks_are_left_out(tmp_path: Path, bad: bytes) -> None:
    assert read(tmp_path, png_with(GOOD, bad, GOOD)) == (TextChunk("good", "value"),) * 2


@pytest.mark.parametrize("length", [8, 1_000_000_000, 2**31, 2**32 - 1])
def test_a_length_beyond_the_file_ends_the_reading(tmp_path: Path, length: int) -> None:
    lie = struct.pack(">I4s", length, b"tEXt") + b"k\0v"
    assert read(tmp_path, HEADER + GOOD + lie) == (TextChunk("good", "value"),)


def test_a_hundred_thousand_chunks_are_read_within_bounds(tmp_path: Path) -> None:
    found = read(tmp_path, png_with(*[text("k", "v")] * 100_000))
    assert len(found) == MAX_TEXTS
    assert read(tmp_path, png_with(*[chunk(b"juNk", b"")] * 300_000, GOOD)) == ()


def test_decompression_bombs_are_bounded(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(200 << 20))
    content = png_with(
        *[chunk(b"zTXt", b"k\0\0" + bomb)] * 10,
        *[chunk(b"iTXt", b"k\0\1\0\0\0" + bomb)] * 10,
        GOOD,
    )
    path = tmp_path / "bomb.png"
    path.write_bytes(content)
    tracemalloc.start()
    assert read_text_chunks(path) == (TextChunk("good", "value"),)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * MAX_TEXT_BYTES


def test_the_total_of_texts_is_bounded(tmp_path: Path) -> None:
    half = "a" * (MAX_TEXT_BYTES // 2 - 1)
    found = read(tmp_path, png_with(text("1", half), text("2", half), text("3", half), GOOD))
    assert [text_chunk.keyword for text_chunk in found] == ["1", "2"]


JPEG = b"\xff\xd8\xff"


@IN_ONE_FOLDER
@given(junk=st.binary(max_size=200), cut=st.integers(0, 200))
@example(junk=JPEG, cut=0)
def test_random_bytes_give_an_engine_error_or_no_text(
    tmp_path: Path, junk: bytes, cut: int
) -> None:
    whole = png_with(text("a", "b"), chunk(b"zTXt", b"c\0\0" + zlib.compress(b"d")))
    for content in (junk, SIGNATURE + junk, HEADER + junk, whole[:cut] + junk):
        if kind_of_head(content) in (PictureKind.PNG, PictureKind.JPEG, PictureKind.WEBP):
            assert all(text_chunk.keyword for text_chunk in read(tmp_path, content))
            continue
        with pytest.raises(EngineError) as caught:
            read(tmp_path, content)
        assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE


@pytest.mark.parametrize("content", [b"GIF89a", b"RIFF\4\0\0\0WAVE", SIGNATURE[:7]])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(EngineError, match="no PNG, JPEG or WebP") as caught:
        read(tmp_path, content)
    assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE


def test_an_empty_file_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="it is empty"):
        read(tmp_path, b"")


def test_a_path_without_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "missing.png", tmp_path / "fifo", Path("null\0.png")):
        with pytest.raises(EngineError) as caught:
            read_text_chunks(path)
        assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE


def test_text_is_added_to_pictures_only() -> None:
    with pytest.raises(EngineError) as caught:
        insert_text_chunks(b"GIF89a", [])
    assert caught.value.code is ErrorCode.INTERNAL
