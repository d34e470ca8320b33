"""Pictures of unknown origin: read within bounds, told by content, refused without a crash."""

import os
import struct
import sys
from pathlib import Path
from typing import BinaryIO

import pytest
from PIL import Image
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

from app import decoding
from app.decoding import picture_size
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.regular_file import open_regular
from tests.metadata.readers.pictures import user_comment
from tests.metadata.records import END, PNG, SIGNATURE, chunk
from ui.pictures import (
    enlarge,
    limit_decoders,
    preview_image,
    read_picture,
    read_whole,
)

ROOM = QSize(64, 64)
# The formats we take, and two that Qt would take.
FORMATS = ("png", "jpeg", "webp", "bmp", "ppm")
OURS = FORMATS[:3]


@pytest.fixture(autouse=True)
def _limits() -> None:  # pyright: ignore[reportUnusedFunction]
    limit_decoders()


def drawn(path: Path, form: str, width: int = 200, height: int = 100) -> Path:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#205080"))
    assert image.save(str(path), form)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return path


def png_header(width: int, height: int) -> bytes:
    return SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


@pytest.mark.parametrize("form", FORMATS)
def test_the_format_of_a_picture_is_told_by_its_content(tmp_path: Path, form: str) -> None:
    path = drawn(tmp_path / "misnamed.gif", form)
    ours = form in OURS
    assert picture_size(str(path)).isEmpty() == (not ours)
    assert read_picture(str(path), ROOM).image.isNull() == (not ours)


def test_a_picture_that_vanishes_while_it_is_looked_at_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drawn(tmp_path / "a.png", "png")

    def opened(name: Path) -> BinaryIO:
        file = open_regular(name)
        # As if it were moved to the trash at this moment.
        name.unlink()
        return file

    monkeypatch.setattr(decoding, "open_regular", opened)
    assert read_whole(str(path)).image.size() == QSize(200, 100)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_a_pipe_is_no_picture_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    assert read_whole(str(tmp_path / "a.png")).image.isNull()


def test_pictures_are_made_to_fit_and_small_ones_kept(tmp_path: Path) -> None:
    path = drawn(tmp_path / "a.png", "png")
    picture = read_picture(str(path), ROOM)
    assert (picture.width, picture.height) == (200, 100)
    assert picture.image.size() == QSize(64, 32)
    assert read_whole(str(path)).image.size() == QSize(200, 100)


def test_a_photograph_held_upright_is_shown_upright(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (200, 100), "red").save(path, exif=exif)
    picture = read_picture(str(path), QSize(64, 640))
    assert (picture.width, picture.height) == (100, 200)
    assert picture.image.size() == QSize(64, 128)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((200, 200), (64, 64)),
        ((300, 200), (96, 64)),
        # Its width of 92.4 pixels is rounded so that its height is not 63.
        ((260, 180), (93, 64)),
        ((2000, 20), (128, 1)),
    ],
)
def test_thumbnails_cover_their_cell(
    tmp_path: Path, shape: tuple[int, int], size: tuple[int, int]
) -> None:
    path = drawn(tmp_path / "a.png", "png", *shape)
    assert read_picture(str(path), ROOM, cover=True).image.size().toTuple() == size


def test_a_picture_is_read_with_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    text = TextChunk("parameters", "a cat\nSteps: 5, Seed: 8, Size: 64x64")
    path.write_bytes(insert_text_chunks(PNG, [text]))
    request = read_picture(str(path), ROOM).request
    assert request is not None
    assert (request.prompt, request.seed) == ("a cat", 8)


@pytest.mark.parametrize("form", ["jpeg", "webp"])
def test_pictures_of_other_tools_are_read_with_their_settings(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    data = b"Exif\0\0" + user_comment("a cat\nSteps: 5, Seed: 8, Size: 64x64")
    Image.new("RGB", (200, 100), "red").save(path, exif=data)
    for cover in (False, True):
        request = read_picture(str(path), ROOM, cover=cover).request
        assert request is not None
        assert (request.prompt, request.seed) == ("a cat", 8)


@pytest.mark.qt_log_ignore("JPEG")  # the decoder says what is wrong with it
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<!DOCTYPE html><html>",
        SIGNATURE,
        PNG[:-30],
        png_header(60_000, 60_000) + END,
        png_header(2**31 - 1, 2**31 - 1) + END,
        png_header(0, 5) + END,
        png_header(8001, 8000) + END,
        b"RIFF\xff\xff\xff\xffWEBPVP8 ",
        b"\xff\xd8\xff\xe0" + b"\0" * 5000,
        b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
    ],
    ids=range(11),
)
def test_a_picture_that_cannot_be_shown_is_null(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert read_picture(str(path), ROOM).image.isNull()


@pytest.mark.parametrize("path", ["/missing/a.png", "", "\0", "/"])
def test_a_picture_that_is_not_there_is_null(path: str) -> None:
    assert read_picture(path, ROOM).image.isNull()


@pytest.mark.parametrize(("room", "size"), [((90, 90), (90, 90)), ((10, 300), (10, 10))])
def test_previews_fill_their_room(room: tuple[int, int], size: tuple[int, int]) -> None:
    pixels = bytes([200, 10, 20]) * 16
    image = preview_image(pixels, 4, 4, QSize(*room))
    assert image.size().toTuple() == size
    assert image.pixelColor(size[0] // 2, size[1] // 2).red() == 200


def test_enlarging_keeps_the_shape_and_makes_nothing_smaller_than_a_pixel() -> None:
    image = QImage(30, 20, QImage.Format.Format_RGB32)
    assert enlarge(image, QSize(300, 300)).size() == QSize(300, 200)
    line = QImage(5000, 1, QImage.Format.Format_RGB32)
    assert enlarge(line, QSize(50, 50)).size() == QSize(50, 1)
