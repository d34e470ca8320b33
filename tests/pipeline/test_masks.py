"""A mask's pixels, beside plain loops over the formulas of the tools."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.conventions import Masking
from engine.pipeline.canvas.canvas import expanded, grown
from engine.pipeline.canvas.masks import (
    blurred,
    cell_mask,
    covering,
    filled,
    fitted,
    surroundings,
)
from engine.pipeline.canvas.pictures import read_mask


def a_mask(height: int, width: int, *boxes: tuple[int, int, int, int]) -> Image.Image:
    """White in boxes of left, top, right and bottom."""
    levels = np.zeros((height, width), np.uint8)
    for left, top, right, bottom in boxes:
        levels[top:bottom, left:right] = 255
    return Image.fromarray(levels)


def noise(height: int, width: int, seed: int = 0) -> Image.Image:
    random = np.random.default_rng(seed)
    return Image.fromarray(random.integers(0, 256, (height, width), dtype=np.uint8))


def test_the_blur_is_the_gaussian_of_opencv() -> None:
    """A spot becomes the kernel that A1111 asks for, mirrored at edges without repeating them."""
    deviation, side = 3, 41
    spot = np.zeros((side, side), np.uint8)
    spot[20, 20] = 255
    reach = int(2.5 * deviation + 0.5)
    weights = [math.exp(-(i * i) / (2 * deviation**2)) for i in range(-reach, reach + 1)]
    across = [255 * weight / sum(weights) for weight in weights]
    line = np.zeros(side)
    line[20 - reach : 20 + reach + 1] = np.rint(across)
    expected = np.zeros((side, side))
    for column in range(side):
        for k, weight in enumerate(weights):
            expected[20 - reach + k, column] = line[column] * weight / sum(weights)
    assert np.array_equal(np.asarray(blurred(Image.fromarray(spot), deviation)), np.rint(expected))
    edge = np.zeros((side, side), np.uint8)
    edge[:, 1] = 255
    # Column 1 is seen from column 0 on both sides.
    left = np.asarray(blurred(Image.fromarray(edge), deviation))[20, 0]
    assert left == round(2 * across[reach + 1])
    assert blurred(Image.fromarray(spot), 0).getpixel((20, 20)) == 255


@pytest.mark.parametrize(
    ("mask", "padding", "size", "expected"),
    [
        # A wide spot becomes square, as far as the picture goes.
        (a_mask(100, 100, (40, 45, 60, 50)), 0, (64, 64), (40, 38, 60, 58)),
        (a_mask(100, 100, (40, 45, 60, 50)), 4, (64, 64), (36, 34, 64, 62)),
        (a_mask(100, 100, (40, 95, 60, 100)), 0, (64, 64), (40, 80, 60, 100)),
        (a_mask(100, 100, (0, 30, 5, 60)), 2, (64, 64), (0, 28, 34, 62)),
        # Wider than the picture is high.
        (a_mask(40, 100, (10, 10, 80, 20)), 0, (64, 64), (10, 0, 80, 40)),
        (a_mask(100, 100, (10, 10, 20, 20)), 0, (128, 64), (5, 10, 25, 20)),
        (a_mask(100, 100), 32, (64, 64), None),
    ],
)
def test_the_surroundings_of_a_mask(
    mask: Image.Image,
    padding: int,
    size: tuple[int, int],
    expected: tuple[int, int, int, int] | None,
) -> None:
    assert surroundings(mask, padding, *size) == expected


def test_a_fitted_picture_is_centred_and_its_edges_are_extended() -> None:
    wide = Image.new("RGB", (40, 20), "red")
    fits = np.asarray(fitted(wide, 64, 64))
    assert fits.shape == (64, 64, 3)
    assert (fits == (255, 0, 0)).all()
    stripes = np.zeros((20, 40), np.uint8)
    stripes[:4], stripes[-4:] = 255, 128
    high = np.asarray(fitted(Image.fromarray(stripes), 40, 60))
    assert (high[20:40] == stripes).all()
    assert (high[:20] == 255).all()
    assert (high[40:] == 128).all()
    sideways = np.asarray(fitted(Image.fromarray(stripes.T.copy()), 60, 40))
    assert (sideways == high.T).all()


def test_a_covering_picture_is_cropped() -> None:
    levels = np.zeros((20, 40), np.uint8)
    levels[:, 10:30] = 255
    assert (np.asarray(covering(Image.fromarray(levels), 20, 20)) == 255).all()
    assert (np.asarray(covering(Image.fromarray(levels.T.copy()), 20, 20)) == 255).all()
    assert covering(Image.fromarray(levels), 30, 7).size == (30, 7)


def test_the_fill_takes_the_colours_around_and_leaves_the_rest() -> None:
    levels = np.zeros((96, 96, 3), np.uint8)
    levels[:, :48], levels[:, 48:] = (200, 40, 0), (0, 40, 200)
    levels[32:64, 24:72] = 255  # nobody sees it
    mask = a_mask(96, 96, (24, 32, 72, 64))
    made = np.asarray(filled(Image.fromarray(levels), mask)).astype(int)
    kept = np.asarray(mask) == 0
    assert (made[kept] == levels[kept]).all()
    assert np.abs(made[48, 26] - (200, 40, 0)).max() < 40
    assert np.abs(made[48, 69] - (0, 40, 200)).max() < 40


@pytest.mark.parametrize("downscale", [2, 8])
def test_cells_of_a_mask(downscale: int) -> None:
    """A1111 reduces and rounds, ComfyUI interpolates, diffusers takes the corners."""
    mask = blurred(a_mask(64, 96, (13, 9, 50, 43)), 3)
    pixels, cells = np.asarray(mask, np.float64), (64 // downscale, 96 // downscale)
    corners = np.zeros(cells)
    middles = np.zeros(cells)
    for row in range(cells[0]):
        for column in range(cells[1]):
            y, x = row * downscale, column * downscale
            corners[row, column] = pixels[y, x] >= 127.5
            half = downscale // 2
            block = pixels[y + half - 1 : y + half + 1, x + half - 1 : x + half + 1]
            middles[row, column] = block.mean() / 255
    size = (96 // downscale, 64 // downscale)
    reduced = mask.convert("RGB").resize(size)
    rounded = np.around(np.asarray(reduced, np.float32)[..., 0] / 255)
    for masking, blended, seen in (
        (Masking.A1111, rounded, corners),
        (Masking.COMFY, middles, np.around(middles)),
        (Masking.DIFFUSERS, corners, corners),
    ):
        found = cell_mask(mask, masking, downscale)
        assert found.blended.dtype == np.float32
        assert found.blended.shape == (1, 1, *cells)
        np.testing.assert_allclose(found.blended[0, 0], blended, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(found.channel[0, 0], seen)
        levels = pixels / 255 if masking is Masking.COMFY else pixels >= 127.5
        last = np.asarray(levels, np.float32)[downscale - 1 :: downscale, 1::downscale]
        np.testing.assert_array_equal(found.pixels[0, (downscale - 1) * downscale + 1], last)


@pytest.mark.parametrize("margins", [(8, 0, 0, 0), (0, 16, 24, 0), (8, 8, 8, 8)])
@pytest.mark.parametrize("feather", [0, 10, 40])
def test_a_canvas_that_grows_is_comfyuis(margins: tuple[int, int, int, int], feather: int) -> None:
    width, height = 60, 44
    left, top, right, bottom = margins
    picture = Image.new("RGB", (width, height), "red")
    canvas, mask = expanded(picture, Image.new("L", picture.size, 0), margins, feather)
    expected = np.ones((height + top + bottom, width + left + right))
    for i in range(height):
        for j in range(width):
            value = 0.0
            if feather > 0 and feather * 2 < min(width, height):
                nearest = min(
                    i if top else height,
                    height - i if bottom else height,
                    j if left else width,
                    width - j if right else width,
                )
                value = (max(feather - nearest, 0) / feather) ** 2
            expected[top + i, left + j] = value
    np.testing.assert_allclose(np.asarray(mask) / 255, expected, rtol=0, atol=0.5 / 255 + 1e-9)
    pixels = np.asarray(canvas)
    assert (pixels[top : top + height, left : left + width] == (255, 0, 0)).all()
    outside = np.ones(pixels.shape[:2], bool)
    outside[top : top + height, left : left + width] = False
    assert (pixels[outside] == 128).all()


def test_the_area_of_a_mask_is_painted_on_a_larger_canvas_too() -> None:
    picture = Image.new("RGB", (60, 40))
    _, mask = expanded(picture, a_mask(40, 60, (20, 10, 30, 20)), (8, 0, 0, 0), 0)
    levels = np.asarray(mask)
    assert (levels[10:20, 28:38] == 255).all()
    assert levels[:, 8:].sum() == 255 * 100


def test_margins_grow_where_they_are() -> None:
    assert grown((60, 60), (4, 0, 0, 0), 8) == (4, 0, 0, 4)
    assert grown((60, 60), (2, 1, 0, 0), 8) == (4, 4, 0, 0)
    assert grown((64, 64), (8, 8, 8, 8), 8) == (8, 8, 8, 8)
    assert grown((61, 64), (8, 0, 1, 0), 8) == (8, 0, 3, 0)


def save(path: Path, image: Image.Image) -> Path:
    image.save(path)
    return path


def test_masks_as_they_come(tmp_path: Path) -> None:
    """Colours by their brightness; where some is transparent, what is opaque is white."""
    shades = noise(16, 24)
    path = tmp_path / "mask.png"
    assert np.array_equal(np.asarray(read_mask(save(path, shades))), np.asarray(shades))
    deep = Image.fromarray(np.asarray(shades).astype(np.uint16) * 257)
    assert np.array_equal(np.asarray(read_mask(save(path, deep))), np.asarray(shades))
    drawn = Image.merge("RGBA", (*[Image.new("L", shades.size, 7)] * 3, shades))
    expected = np.where(np.asarray(shades) > 128, 255, 0)
    assert np.array_equal(np.asarray(read_mask(save(path, drawn))), expected)
    opaque = Image.merge("RGBA", (*[shades] * 3, Image.new("L", shades.size, 255)))
    assert np.array_equal(np.asarray(read_mask(save(path, opaque))), np.asarray(shades))
    palette = shades.convert("RGB").convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
    expected = np.asarray(palette.convert("L"))
    assert np.array_equal(np.asarray(read_mask(save(path, palette))), expected)
    bits = shades.convert("1")
    assert np.array_equal(np.asarray(read_mask(save(path, bits))), np.asarray(bits) * 255)
