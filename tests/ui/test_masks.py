"""Masks are read as the engine reads them, shown, turned round and written."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QImage

from engine.pipeline.canvas import pictures
from ui.masks import as_png, empty_mask, inverted, is_empty, read_mask, veil

SIZE = QSize(16, 8)


def half() -> QImage:
    """White on its left half."""
    mask = empty_mask(SIZE)
    for x in range(8):
        for y in range(8):
            mask.setPixelColor(x, y, QColor(Qt.GlobalColor.white))
    return mask


def test_a_mask_comes_back_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "mask.png").write_bytes(as_png(half(), SIZE))
    with Image.open(tmp_path / "mask.png") as image:
        assert image.mode == "L"
        levels = np.asarray(image)
    assert (levels[:, :8] == 255).all()
    assert (levels[:, 8:] == 0).all()
    assert read_mask(str(tmp_path / "mask.png"), SIZE) == half()
    larger = read_mask(str(tmp_path / "mask.png"), SIZE * 4)
    assert larger is not None
    assert larger.size() == SIZE * 4
    assert larger.pixelColor(2, 2).red() == 255
    assert larger.pixelColor(62, 2).red() == 0


@pytest.mark.parametrize("colour", [0, 255])
def test_opaque_pixels_of_a_mask_are_painted_as_in_the_engine(tmp_path: Path, colour: int) -> None:
    pixels = np.full((8, 16, 4), colour, np.uint8)
    pixels[:, :8, 3], pixels[:, 8:, 3] = 255, 100
    path = tmp_path / "mask.png"
    Image.fromarray(pixels).save(path)
    mask = read_mask(str(path), SIZE)
    assert mask == half()
    engines = np.asarray(pictures.read_mask(path))
    shown = [[half().pixelColor(x, y).red() for x in range(16)] for y in range(8)]
    np.testing.assert_array_equal(shown, engines)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"<html>"])
def test_a_file_that_is_no_picture_is_no_mask(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mask.png").write_bytes(content)
    assert read_mask(str(tmp_path / "mask.png"), SIZE) is None


def test_turned_round_and_empty() -> None:
    assert not is_empty(half())
    assert is_empty(empty_mask(SIZE))
    assert inverted(half()).pixelColor(12, 4).red() == 255
    assert inverted(inverted(half())) == half()


def test_the_veil_has_the_colour_where_something_is_painted() -> None:
    shown = veil(half(), "#ff0000")
    assert shown.pixelColor(2, 2).red() == 255
    assert 100 < shown.pixelColor(2, 2).alpha() < 200
    assert shown.pixelColor(12, 2).alpha() == 0
