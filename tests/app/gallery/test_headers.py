"""Headers of pictures of any origin are read in bounded time, and identities outlive metadata."""

import struct
import time
import zlib
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.gallery.descriptions import UNKNOWN, read_description
from app.gallery.headers import Header, read_header
from app.gallery.rows import Trouble
from engine.metadata.png import insert_text_chunks
from engine.metadata.texts import TextChunk
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import chunk, ours, png, write


def header_of(path: Path) -> Header:
    with FileIO(str(path)) as file:
        return read_header(file)


def of_bytes(path: Path, content: bytes) -> Header:
    path.write_bytes(content)
    return header_of(path)


@pytest.mark.parametrize(
    ("suffix", "quality"),
    [(".png", 80), (".jpg", 80), (".webp", 80), (".webp", 101), (".gif", 80)],
)
def test_the_size_and_the_identity_of_each_format(
    tmp_path: Path, suffix: str, quality: int
) -> None:
    image = Image.effect_noise((300, 200), 50).convert("RGB")
    first, other = tmp_path / f"first{suffix}", tmp_path / f"other{suffix}"
    lossless = quality > 100
    image.save(first, quality=min(quality, 100), lossless=lossless)
    # The last pixel alone differs.
    image.putpixel((299, 199), (255, 0, 0))
    image.save(other, quality=min(quality, 100), lossless=lossless)
    found = header_of(first)
    assert (found.width, found.height, found.trouble) == (300, 200, None)
    assert found.identity != header_of(other).identity
    assert of_bytes(tmp_path / "copy", first.read_bytes()).identity == found.identity


def test_metadata_that_is_rewritten_leaves_the_identity(tmp_path: Path) -> None:
    plain = png(1)
    before = of_bytes(tmp_path / "a.png", plain).identity
    texts = [TextChunk("parameters", "other words " * 1000)]
    assert of_bytes(tmp_path / "a.png", insert_text_chunks(plain, texts)).identity == before
    image = Image.effect_noise((64, 64), 50)
    for suffix in (".jpg", ".webp"):
        path = tmp_path / f"a{suffix}"
        image.save(path, quality=80)
        before = header_of(path).identity
        exif = Image.Exif()
        exif[0x010E] = "other words"
        image.save(path, quality=80, exif=exif)
        assert header_of(path).identity == before


def test_pixels_after_a_long_equal_beginning_make_another_identity(tmp_path: Path) -> None:
    def large(middle: bytes) -> bytes:
        rows = b"".join(b"\0" + bytes([n % 251]) * 3000 for n in range(1000))
        data = zlib.compress(rows[:1_500_000] + middle + rows[1_500_000:], 0)
        header = struct.pack(">IIBBBBB", 1000, 1000, 8, 2, 0, 0, 0)
        parts = [data[at : at + 8192] for at in range(0, len(data), 8192)]
        body = b"".join(chunk(b"IDAT", part) for part in parts)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")

    header = of_bytes(tmp_path / "one.png", large(b"\1"))
    other = of_bytes(tmp_path / "other.png", large(b"\2"))
    assert header.identity != other.identity


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (b"", Trouble.EMPTY),
        (b"<html><img src=file:///etc/passwd></html>", Trouble.OTHER_FORMAT),
        (b"\x89PNG\r\n\x1a\n", Trouble.DAMAGED),
        (png(1)[:20], Trouble.DAMAGED),
        (png(1)[:40], Trouble.DAMAGED),
        (png(1, 0, 5), Trouble.DAMAGED),
        (png(1, 60_000, 60_000), Trouble.TOO_LARGE),
        (png(1, 2**31, 2**31), Trouble.TOO_LARGE),
        (b"\xff\xd8\xff\xe0", Trouble.DAMAGED),
        (b"RIFF\0\0\0\0WEBPVP8 ", Trouble.DAMAGED),
    ],
    ids=lambda value: value if isinstance(value, Trouble) else None,
)
def test_a_file_that_cannot_be_shown_has_a_reason(
    tmp_path: Path, content: bytes, trouble: Trouble
) -> None:
    assert of_bytes(tmp_path / "a.png", content).trouble is trouble


STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBP", b"")


@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=200))
def test_no_bytes_stop_the_reader(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.png"
    of_bytes(path, start + rest)
    read_description(path)


@given(place=st.integers(0, 400), value=st.integers(0, 255))
def test_no_changed_byte_stops_the_reader(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.png"
    whole = bytearray(ours(1, "a cat"))
    whole[place % len(whole)] = value
    of_bytes(path, bytes(whole))
    read_description(path)


def test_bombs_of_text_and_chunks_are_rows_like_others(gallery: Opened) -> None:
    bomb = b"Comment\0\0" + zlib.compress(b"a" * 200_000_000, 9)
    plain = png(1)
    write(gallery.pictures / "bomb.png", plain[:33] + chunk(b"zTXt", bomb) + plain[33:])
    many = b"".join(chunk(b"tEXt", b"k\0v") for _ in range(100_000))
    write(gallery.pictures / "many.png", png(2)[:33] + many + png(2)[33:])
    write(gallery.pictures / "plain.png", ours(3, "<img src='file:///etc/passwd'>\u202e\0"))
    write(gallery.pictures / "no picture.webp", b"")
    start = time.monotonic()
    gallery.index.start()
    gallery.wait_for("bomb.png", "many.png", "plain.png", "no picture.webp")
    assert time.monotonic() - start < 60
    by_name = {Path(row.path).name: row for row in gallery.rows()}
    # The decoder shows it: what is counted no further is no damage.
    assert (by_name["many.png"].trouble, by_name["many.png"].width) == (None, 1)
    row = by_name["plain.png"]
    assert row.prompt.startswith("<img src='file:///etc/passwd'>\u202e")


def test_pixels_behind_many_chunks_make_an_identity(tmp_path: Path) -> None:
    many = b"".join(chunk(b"tEXt", b"k\0v") for _ in range(100_000))
    first, other = (
        of_bytes(tmp_path / "many.png", png(number)[:33] + many + png(number)[33:])
        for number in (1, 2)
    )
    assert (first.width, first.trouble) == (1, None)
    assert first.identity != other.identity


@pytest.mark.parametrize(
    "name", ["ü 雪 \U0001f600.png", "a'b\"c%23#;.png", "a" * 240 + ".png", "\u202egnp.png"]
)
def test_any_name_of_a_file_is_found_again(gallery: Opened, name: str) -> None:
    write(gallery.pictures / name, ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for(name)
    (row,) = gallery.rows()
    assert Path(row.path).exists()
    assert gallery.index.id_of(row.path) == row.id


def test_a_name_that_is_not_unicode_is_found_again(gallery: Opened) -> None:
    try:
        write(gallery.pictures / "a\udcff.png", ours(1, "a cat"))
    except OSError:
        pytest.skip("this file system takes only Unicode")
    gallery.index.start()
    gallery.wait_for("a\udcff.png")
    assert gallery.names() == ["a\udcff.png"]


def test_a_picture_without_texts_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(1))
    assert read_description(tmp_path / "a.png") == UNKNOWN
