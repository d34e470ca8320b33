"""Maps brought to a picture's size: which part is seen, and which colours stay."""

import numpy as np
import pytest

from engine.api.control import ControlResize
from engine.api.control_rules import MapResampling
from engine.pipeline.control.fitting import fitted_map, otsu_threshold
from engine.preprocessors.scales import Pixels

BY_CONTENT = MapResampling.BY_CONTENT


def halves(height: int, width: int) -> Pixels:
    """Red on the left, blue on the right, in a frame of green."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[:, : width // 2, 0] = 200
    picture[:, width // 2 :, 2] = 100
    picture[0] = picture[-1] = picture[:, 0] = picture[:, -1] = (0, 250, 0)
    return picture


@pytest.mark.parametrize("resampling", MapResampling)
@pytest.mark.parametrize("mode", ControlResize)
@pytest.mark.parametrize("size", [(64, 64), (96, 40), (24, 80)], ids=str)
def test_a_map_has_the_size_of_the_picture(
    resampling: MapResampling, mode: ControlResize, size: tuple[int, int]
) -> None:
    made = fitted_map(halves(50, 90), size, mode, resampling)
    assert (made.shape, made.dtype) == ((size[1], size[0], 3), np.uint8)


def test_a_map_of_the_right_size_is_left_alone() -> None:
    picture = halves(40, 60)
    for resampling in MapResampling:
        assert fitted_map(picture, (60, 40), ControlResize.CROP, resampling) is picture


def test_a_map_is_stretched_cropped_or_framed() -> None:
    picture = halves(50, 100)

    def green(mode: ControlResize) -> list[bool]:
        """Tell whether the top, bottom and left edges of a square are the frame's."""
        made = fitted_map(picture, (50, 50), mode, BY_CONTENT)
        edges = made[0, 25], made[-1, 25], made[25, 0]
        return [bool(edge[1] > 200) for edge in edges]

    assert green(ControlResize.STRETCH) == [True, True, True]
    assert green(ControlResize.CROP) == [True, True, False]
    filled = fitted_map(picture, (50, 50), ControlResize.FILL, BY_CONTENT)
    assert (filled[:12] == (0, 250, 0)).all()
    assert (filled[-12:] == (0, 250, 0)).all()


def test_few_colours_and_binary_maps_get_no_others() -> None:
    flat = halves(50, 90)
    made = fitted_map(flat, (200, 120), ControlResize.STRETCH, BY_CONTENT)
    colours = {tuple(one) for one in flat.reshape(-1, 3).tolist()}
    assert {tuple(one) for one in made.reshape(-1, 3).tolist()} == colours
    binary = np.zeros((40, 40, 3), np.uint8)
    binary[10:30, 10:30] = 255
    for side in (25, 90):
        made = fitted_map(binary, (side, side), ControlResize.STRETCH, BY_CONTENT)
        assert set(np.unique(made)) == {0, 255}
        assert abs((made > 0).mean() - 0.25) < 0.04


def test_the_threshold_is_between_two_classes() -> None:
    grey = np.array([[10, 12, 11, 10], [200, 210, 205, 199]], np.uint8)
    assert 12 <= otsu_threshold(grey) < 199
