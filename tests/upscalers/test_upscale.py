"""Pictures of the wanted size: by networks and by methods without one, with transparency."""

import math
from itertools import product

import numpy as np
import pytest
from PIL import Image

from backends.base import Array
from engine.api.second_passes import Resampling
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.upscalers.resampling import resampled
from engine.upscalers.tiles import Floats
from engine.upscalers.upscale import Enlarger, Pixels, Wanted, passes, upscaled
from tests.upscalers.small import picture

# The filters of Pillow that do the same; its bilinear one only where a picture grows.
FILTERS = {
    Resampling.LANCZOS: Image.Resampling.LANCZOS,
    Resampling.BILINEAR: Image.Resampling.BILINEAR,
    Resampling.NEAREST: Image.Resampling.NEAREST,
}
SIZES = [(31, 17), (80, 66), (20, 9), (1, 1), (40, 90)]


def pixels(height: int, width: int, channels: int = 3) -> Pixels:
    planes = picture(height, width, channels=channels)
    return np.rint(planes.transpose(1, 2, 0) * 255).astype(np.uint8)


class Doubling:
    """An enlarger that repeats pixels, and counts its runs."""

    def __init__(self, scale: int = 2) -> None:
        self.runs, self.scale = list[tuple[int, ...]](), scale

    def enlarge(self, planes: Floats) -> Floats:
        self.runs.append(planes.shape)
        return planes.repeat(self.scale, 1).repeat(self.scale, 2)

    @property
    def enlarger(self) -> Enlarger:
        return Enlarger(self.enlarge, self.scale)


@pytest.mark.parametrize(
    ("method", "size"),
    [
        *product([Resampling.LANCZOS, Resampling.NEAREST], SIZES),
        (Resampling.BILINEAR, (80, 66)),
        (Resampling.BILINEAR, (41, 90)),
    ],
)
def test_a_method_alone_is_pillows(method: Resampling, size: tuple[int, int]) -> None:
    before = pixels(33, 40)
    ours = upscaled(before, Wanted(size=size, resampling=method), None)
    theirs = np.asarray(Image.fromarray(before).resize(size, FILTERS[method]))
    assert ours.shape == theirs.shape == (size[1], size[0], 3)
    # Pillow rounds after each of its two passes.
    assert np.abs(ours.astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("size", SIZES)
def test_an_area_is_of_whole_pixels(size: tuple[int, int]) -> None:
    """The mean of all pixels that it touches, as in `adaptive_avg_pool2d`."""
    before = pixels(33, 40)
    ours = upscaled(before, Wanted(size=size, resampling=Resampling.AREA), None)
    for across, down in [(0, 0), (size[0] // 3, size[1] // 2), (size[0] - 1, size[1] - 1)]:
        rows = slice(down * 33 // size[1], math.ceil((down + 1) * 33 / size[1]))
        columns = slice(across * 40 // size[0], math.ceil((across + 1) * 40 / size[0]))
        mean = before[rows, columns].mean((0, 1))
        assert np.abs(ours[down, across] - mean).max() <= 0.51


def test_bicubic_is_sharper_than_bilinear() -> None:
    edge = np.zeros((8, 8, 3), np.uint8)
    edge[:, 4:] = 200
    soft, sharp = (
        upscaled(edge, Wanted(scale=4, resampling=method), None)[0, :, 0].astype(int)
        for method in (Resampling.BILINEAR, Resampling.BICUBIC)
    )
    assert np.diff(sharp).max() > np.diff(soft).max()
    assert soft.max() == 200
    assert sharp.max() > 205


@pytest.mark.parametrize("method", Resampling)
@pytest.mark.parametrize("size", SIZES)
def test_transparent_colours_do_not_shine_through(
    method: Resampling, size: tuple[int, int]
) -> None:
    """A red disc on transparent green stays red at its edge."""
    before = np.zeros((33, 40, 4), np.uint8)
    before[..., 1] = 255
    down, across = np.mgrid[0:33, 0:40]
    disc = (down - 16) ** 2 + (across - 20) ** 2 < 150
    before[disc] = (255, 0, 0, 255)
    after = upscaled(before, Wanted(size=size, resampling=method), None)
    seen = after[after[..., 3] > 8]
    assert len(seen)
    assert (seen[:, 0] >= 250).all()
    assert (seen[:, 1] <= 5).all()


def test_an_opaque_picture_with_opacity_has_the_colours_of_one_without() -> None:
    plain = pixels(21, 13)
    opaque = np.dstack([plain, np.full((21, 13), 255, np.uint8)])
    wanted = Wanted(size=(50, 60))
    with_opacity = upscaled(opaque, wanted, None)
    assert (with_opacity[..., 3] == 255).all()
    np.testing.assert_array_equal(with_opacity[..., :3], upscaled(plain, wanted, None))


def test_a_network_enlarges_colours_and_opacity_apart() -> None:
    network, before = Doubling(), pixels(9, 11, 4)
    after = upscaled(before, Wanted(), network.enlarger)
    assert network.runs == [(3, 9, 11), (1, 9, 11)]
    np.testing.assert_array_equal(after, before.repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("level", [0, 255])
def test_an_even_opacity_is_not_run(level: int) -> None:
    network, before = Doubling(), pixels(9, 11, 4)
    before[..., 3] = level
    after = upscaled(before, Wanted(), network.enlarger)
    assert network.runs == [(3, 9, 11)]
    assert (after[..., 3] == level).all()


@pytest.mark.parametrize(
    ("wanted", "size", "runs"),
    [
        (Wanted(), (22, 18), 1),
        (Wanted(scale=2), (22, 18), 1),
        (Wanted(scale=1.5), (16, 14), 1),
        (Wanted(scale=3), (33, 27), 2),
        (Wanted(scale=64), (704, 576), 3),
        (Wanted(size=(100, 3)), (100, 3), 3),
        (Wanted(size=(5, 5)), (5, 5), 1),
        (Wanted(size=(1, 1)), (1, 1), 1),
    ],
)
def test_the_size_is_exactly_the_wanted_one(
    wanted: Wanted, size: tuple[int, int], runs: int
) -> None:
    network = Doubling()
    after = upscaled(pixels(9, 11), wanted, network.enlarger)
    assert after.shape == (size[1], size[0], 3)
    assert len(network.runs) == runs


def test_a_network_that_keeps_the_size_runs_once() -> None:
    assert passes((10, 10), (40, 40), 1) == 1
    network = Doubling(1)
    assert upscaled(pixels(9, 11), Wanted(scale=2), network.enlarger).shape == (18, 22, 3)
    assert len(network.runs) == 1


def test_a_picture_of_one_pixel_is_enlarged_by_each_method() -> None:
    pixel: Array = np.array([[[10, 20, 30, 40]]], np.uint8)
    for method in Resampling:
        after = upscaled(pixel, Wanted(scale=4, resampling=method), None)
        assert after.shape == (4, 4, 4)
        assert np.abs(after.astype(int) - pixel).max() <= 1
    assert upscaled(pixel, Wanted(scale=1 / 64), None).shape == (1, 1, 4)


@pytest.mark.parametrize(
    "wanted", [Wanted(size=(30000, 30000)), Wanted(scale=64), Wanted(size=(100_000, 1000))]
)
def test_too_large_a_picture_is_refused_before_anything_runs(wanted: Wanted) -> None:
    network, before = Doubling(), np.zeros((200, 200, 3), np.uint8)
    for enlarger in (None, network.enlarger):
        with pytest.raises(EngineError, match="89 million pixels is the most") as caught:
            upscaled(before, wanted, enlarger)
        assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert network.runs == []


def test_a_network_whose_own_picture_is_too_large_is_refused() -> None:
    before = np.broadcast_to(np.uint8(0), (4000, 4000, 3))
    with pytest.raises(EngineError, match="16000 × 16000"):  # noqa: RUF001
        upscaled(before, Wanted(scale=1.5), Doubling(4).enlarger)


def test_the_same_size_is_the_same_picture() -> None:
    before = pixels(12, 7)
    np.testing.assert_array_equal(upscaled(before, Wanted(size=(7, 12)), None), before)
    planes = picture(5, 4, channels=4)
    assert resampled(planes, (4, 5), Resampling.LANCZOS) is planes
