"""Tiles cover a picture once, and their statistics make the whole's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.families.shared.kl_vae.tiles import shared_norms, tiling
from engine.graphs.vae_tiles import ShellNorm


@given(st.integers(1, 300), st.integers(1, 300), st.integers(20, 90), st.integers(0, 8))
def test_every_cell_is_kept_once_and_seen_with_its_surroundings(
    height: int, width: int, longest: int, halo: int
) -> None:
    covered = tiling((height, width), longest, halo)
    kept = np.zeros((1, 1, height, width), int)
    for tile in covered.tiles:
        for span, side in ((tile.rows, height), (tile.columns, width)):
            assert 0 <= span.start <= span.kept_from < span.kept_to <= span.stop <= side
            assert span.stop - span.start <= longest
            assert span.start == 0 or span.kept_from - span.start >= halo
            assert span.stop == side or span.stop - span.kept_to >= halo
        cropped = tile.crop(kept)
        assert cropped.shape[2:] == covered.size
        tile.keep(cropped + 1, kept)
    np.testing.assert_array_equal(kept, 1)


def test_statistics_of_halves_are_those_of_the_whole() -> None:
    random = np.random.default_rng(0)
    # Two halves of a picture, with different means, in two groups of three channels.
    halves = random.normal([[[1.0], [-3.0]], [[4.0], [2.0]]], 2.0, (2, 2, 600))
    measured = np.stack([np.concatenate([half.mean(1), half.var(1)]) for half in halves])
    told = dict(shared_norms([ShellNorm("norm", 6)], 2, measured))
    whole = np.concatenate(halves, axis=1)
    np.testing.assert_allclose(told["norm.centre"], np.repeat(-whole.mean(1), 3), rtol=1e-6)
    factor = 1 / np.sqrt(whole.var(1) + 1e-6)
    np.testing.assert_allclose(told["norm.factor"], np.repeat(factor, 3), rtol=1e-6)


def test_a_small_picture_is_one_tile() -> None:
    (tile,) = tiling((30, 20), 40, 7).tiles
    assert (tile.rows.stop, tile.columns.stop) == (30, 20)


@pytest.mark.parametrize("longest", [72, 48])
def test_tiles_are_no_larger_than_their_number_allows(longest: int) -> None:
    covered = tiling((128, 128), longest, 7)
    assert covered.size[0] <= longest
    assert len(tiling((128, 128), covered.size[0] - 1, 7).tiles) > len(covered.tiles)
