"""Tiles cover a picture, and their results make one picture without seams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Array
from engine.upscalers.tiles import Overlap, tiles

RANDOM = np.random.default_rng(4)


@given(
    size=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    longest=st.integers(1, 80),
    reach=st.integers(0, 12),
    blend=st.integers(1, 20),
    multiple=st.sampled_from([1, 2, 8]),
)
def test_parts_of_a_picture_make_it_again(
    size: tuple[int, int], longest: int, reach: int, blend: int, multiple: int
) -> None:
    height, width = (side * multiple for side in size)
    picture = RANDOM.random((2, height, width), np.float32)
    whole = np.zeros((2, 3 * height, 3 * width), np.float32)
    covering = tiles((height, width), longest, Overlap(reach, blend, multiple))
    for tile in covering:
        seen = tile.crop(picture)
        tile.add(seen.repeat(3, 1).repeat(3, 2), whole, 3)
    np.testing.assert_allclose(whole, picture.repeat(3, 1).repeat(3, 2), atol=2e-6)
    assert len({tile.crop(picture).shape for tile in covering}) == 1
    for tile in covering:
        for span, side in ((tile.rows, height), (tile.columns, width)):
            assert span.start % multiple == 0
            kept = np.flatnonzero(span.weights)
            assert span.start == 0 or kept[0] >= reach
            assert span.stop == side or len(span.weights) - 1 - kept[-1] >= reach


def test_tiles_are_as_few_as_possible() -> None:
    overlap = Overlap(reach=12, blend=8)
    assert len(tiles((100, 100), 100, overlap)) == 1
    assert len(tiles((101, 100), 100, overlap)) == 2
    assert len(tiles((168, 169), 100, overlap)) == 6
    assert len(tiles((5, 1), 1, overlap)) == 1


@pytest.mark.parametrize("blend", [4, 32])
def test_tiles_that_differ_give_way_to_each_other_slowly(blend: int) -> None:
    """A tile of 1s beside one of 0s: no step is larger than the slope's."""
    picture = np.zeros((1, 8, 200), np.float32)
    whole = picture.copy()
    first, second, *_ = tiles((8, 200), 120, Overlap(8, blend))
    first.add(np.ones_like(first.crop(picture)), whole, 1)
    second.add(np.zeros_like(second.crop(picture)), whole, 1)
    row: Array = whole[0, 0, : second.columns.stop]
    assert np.abs(np.diff(row)).max() <= 1 / blend + 1e-6
