"""The icon's files hold every size that the systems show, and are the same each time."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.IcoImagePlugin import IcoFile

from installers.icon.files import icns_icon, ico_icon, png_icon, write_icons


def test_the_windows_icon_has_the_sizes_of_each_scale() -> None:
    with Image.open(BytesIO(ico_icon())) as icon:
        sides = {width for width, _ in icon.info["sizes"]}
    assert sides >= {16, 20, 24, 32, 40, 48, 64, 256}


@pytest.mark.parametrize("side", [16, 32, 256])
def test_each_size_of_the_windows_icon_is_drawn_for_that_size(side: int) -> None:
    image = IcoFile(BytesIO(ico_icon())).getimage((side, side))
    with Image.open(BytesIO(png_icon(side))) as drawn:
        assert image.convert("RGBA").tobytes() == drawn.tobytes()


def test_the_macos_icon_has_retina_sizes() -> None:
    with Image.open(BytesIO(icns_icon())) as icon:
        assert {(16, 16, 2), (128, 128, 2), (512, 512, 2)} <= set(icon.info["sizes"])


@pytest.mark.parametrize("side", [16, 48, 64, 512])
def test_the_drawing_has_clear_corners_and_a_lit_lamp(side: int) -> None:
    with Image.open(BytesIO(png_icon(side))) as drawn:
        pixels = np.asarray(drawn)
    assert pixels.shape == (side, side, 4)
    assert not pixels[0, 0].any()
    red, green, blue, alpha = pixels[round(side * 0.58), side // 2]
    assert alpha == 255
    assert red > 200 > green > blue


def test_the_same_drawing_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_icons(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
