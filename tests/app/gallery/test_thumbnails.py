"""Thumbnails are made once, kept by the picture's identity, and can be thrown away."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

from app.decoding import decode, picture_size
from app.gallery import thumbnails
from app.gallery.rows import NO_MARKS, GalleryRow
from app.gallery.thumbnails import FILE, ThumbnailFiles


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ThumbnailFiles]:
    files = ThumbnailFiles(tmp_path / "thumbnails")
    yield files
    files.close()


def picture(path: Path, side: int = 800, colour: int = 0) -> GalleryRow:
    """Write a picture, twice as wide as high, and return its row."""
    image = QImage(side, side // 2, QImage.Format.Format_RGB32)
    image.fill(QColor(colour, 100, 200))
    image.save(str(path))
    return row_of(path, bytes([colour]) * 16)


def row_of(path: Path, identity: bytes | None) -> GalleryRow:
    status = path.stat()
    return GalleryRow(
        id=1, path=str(path), modified_ns=status.st_mtime_ns, size=status.st_size, width=0,
        height=0, identity=identity, prompt="", negative="", model="", loras=(), seed=None,
        tool="", marks=NO_MARKS, trouble=None,
    )  # fmt: skip


def test_a_thumbnail_fits_the_side_that_suffices(files: ThumbnailFiles, tmp_path: Path) -> None:
    row = picture(tmp_path / "a.png")
    assert files.read(row, 100).size().toTuple() == (256, 128)
    assert files.read(row, 257).size().toTuple() == (512, 256)
    small = picture(tmp_path / "b.png", side=40, colour=1)
    assert files.read(small, 512).size().toTuple() == (40, 20)


def test_an_animation_is_shown_by_its_first_picture(files: ThumbnailFiles, tmp_path: Path) -> None:
    path = tmp_path / "dance.gif"
    first, *others = (Image.new("RGB", (600, 300), colour) for colour in ("red", "blue", "lime"))
    first.save(path, save_all=True, append_images=others, duration=50)
    shown = files.read(row_of(path, b"d" * 16), 256)
    assert shown.size().toTuple() == (256, 128)
    red, green, blue, _ = shown.pixelColor(128, 64).getRgb()  # pyright: ignore[reportUnknownVariableType, reportGeneralTypeIssues]
    assert (red > 240, green < 15, blue < 15) == (True, True, True)
    # The viewer has it whole.
    whole = decode(str(path), QSize(5000, 5000))
    assert (whole.image.size().toTuple(), whole.width, whole.height) == ((600, 300), 600, 300)
    assert picture_size(str(path)) == QSize(600, 300)
    # One that states more pixels than are decoded, and one that ends after that.
    for name, size in (("bomb", b"\xff\xff\xff\xff"), ("cut", b"\x20\x00\x20\x00")):
        bad = tmp_path / f"{name}.gif"
        bad.write_bytes(b"GIF89a" + size)
        assert files.read(row_of(bad, name.ljust(16).encode()), 256).isNull()


def test_a_kept_thumbnail_needs_no_file_and_survives_renaming(
    files: ThumbnailFiles, tmp_path: Path
) -> None:
    row = picture(tmp_path / "a.png")
    made = files.read(row, 256)
    (tmp_path / "a.png").rename(tmp_path / "b.png")
    again = files.read(row_of(tmp_path / "b.png", row.identity), 256)
    assert again.size() == made.size()
    (tmp_path / "b.png").unlink()
    files.close()
    assert files.read(row, 256).size() == made.size()


def test_a_file_that_fails_is_not_tried_again_until_it_is_changed(
    files: ThumbnailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    row = row_of(path, b"\1" * 16)
    tried: list[str] = []
    decode = thumbnails.decode

    def counted(path: str, *arguments: object) -> object:
        tried.append(path)
        return decode(path, *arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(thumbnails, "decode", counted)
    assert files.read(row, 256).isNull()
    assert files.read(row, 256).isNull()
    assert len(tried) == 1
    assert not files.read(picture(path), 256).isNull()


def test_all_thumbnails_stay_below_a_bound(tmp_path: Path) -> None:
    files = ThumbnailFiles(tmp_path / "thumbnails", most_bytes=20_000)
    for number in range(60):
        assert not files.read(picture(tmp_path / "a.png", colour=number), 256).isNull()
    files.close()
    with closing(sqlite3.connect(tmp_path / "thumbnails" / FILE)) as connection:
        total, newest = connection.execute(
            "SELECT sum(length(jpeg)), max(identity) FROM thumbnails"
        ).fetchone()
    assert 0 < total <= 20_000
    assert newest == bytes([59]) * 16


@pytest.mark.parametrize("content", [b"<html>" * 3000, b"", b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_file_is_made_again(
    files: ThumbnailFiles, tmp_path: Path, content: bytes
) -> None:
    row = picture(tmp_path / "a.png")
    files.read(row, 256)
    files.close()
    (tmp_path / "thumbnails" / FILE).write_bytes(content)
    for _ in range(3):
        assert files.read(row, 256).size().toTuple() == (256, 128)
    with closing(sqlite3.connect(tmp_path / "thumbnails" / FILE)) as connection:
        assert connection.execute("SELECT count(*) FROM thumbnails").fetchone() == (1,)


def test_without_a_disk_thumbnails_are_made_each_time(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    files = ThumbnailFiles(tmp_path / "taken")
    assert not files.read(picture(tmp_path / "a.png"), 256).isNull()
    files.close()


def test_transparency_is_filled(files: ThumbnailFiles, tmp_path: Path) -> None:
    image = QImage(10, 10, QImage.Format.Format_ARGB32)
    image.fill(0)
    image.save(str(tmp_path / "a.png"))
    row = row_of(tmp_path / "a.png", b"\1" * 16)
    for _ in range(2):
        assert abs(files.read(row, 256).pixelColor(5, 5).red() - 0x80) < 4


@pytest.mark.qt_log_ignore("JPEG|jpeg")  # the decoder says what is wrong with a damaged one
@pytest.mark.parametrize("flips", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_flipped_byte_stops_the_thumbnails(tmp_path: Path, flips: int) -> None:
    folder = tmp_path / "thumbnails"
    rows = [picture(tmp_path / f"{number}.png", colour=number) for number in range(4)]
    first = ThumbnailFiles(folder)
    assert all(not first.read(row, 256).isNull() for row in rows)
    first.close()
    whole = (folder / FILE).read_bytes()
    chance = random.Random(1)
    for _ in range(flips):
        place = chance.randrange(len(whole))
        (folder / FILE).write_bytes(
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        )
        files = ThumbnailFiles(folder)
        for row in rows:
            assert files.read(row, 256).size().toTuple() == (256, 128)
        files.close()
        for rest in folder.glob(f"{FILE}-*"):
            rest.unlink()
