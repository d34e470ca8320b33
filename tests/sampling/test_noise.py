"""The generator against frozen values of torch, and its bookkeeping between draws."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sampling.noise import TorchCpuGenerator

FROZEN = np.load(Path(__file__).parent / "frozen" / "noise.npz")
# Those of freeze.py, in its order.
SEEDS = (0, 42, 2**32 + 42, 2**64 - 1)
SHAPES = ((3,), (16,), (2,), (17,), (31,), (15,), (5, 7))


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_draws_equal_torchs(seed: int):
    generator = TorchCpuGenerator(seed)
    draws = [generator.randn(shape) for shape in SHAPES]
    assert [draw.shape for draw in draws] == list(SHAPES)
    joined = np.concatenate([draw.ravel() for draw in draws])
    assert joined.dtype == np.float32
    np.testing.assert_allclose(joined, FROZEN[f"draws/{seed}"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_latents_equal_torchs(seed: int):
    latent = TorchCpuGenerator(seed).randn((4, 64, 64))
    np.testing.assert_allclose(latent[:, ::8, 5], FROZEN[f"latent/{seed}"], rtol=0, atol=1e-6)


def test_the_first_normal_values_of_seed_42_equal_torchs():
    """Values that anyone can check: torch.manual_seed(42); torch.randn(3)."""
    expected = [0.33669036626815796, 0.12880940735340118, 0.23446236550807953]
    np.testing.assert_allclose(TorchCpuGenerator(42).randn((3,)), expected, rtol=0, atol=1e-7)


def test_integers_equal_those_of_mt19937():
    """The first outputs of the reference implementation (Matsumoto and Nishimura) for seed 5489."""
    first = TorchCpuGenerator(5489).random_uint32(3)
    assert first.tolist() == [3499211612, 581869302, 3890346734]


def test_only_the_low_32_bits_of_a_seed_count():
    expected = TorchCpuGenerator(7).randn((20,))
    for seed in (7 + 2**32, 7 - 2**32, 7 + 2**63):
        np.testing.assert_array_equal(TorchCpuGenerator(seed).randn((20,)), expected)


def test_small_draws_join_to_one_stream():
    """The second value of a pair waits, also across a large draw."""
    expected = TorchCpuGenerator(1).randn((15,))
    generator = TorchCpuGenerator(1)
    split = [generator.randn((size,)) for size in (1, 0, 2, 5, 7)]
    np.testing.assert_array_equal(np.concatenate(split), expected)

    generator = TorchCpuGenerator(1)
    first = generator.randn((1,))
    generator.randn((32,))
    np.testing.assert_array_equal(np.append(first, generator.randn((1,))), expected[:2])


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 5), st.integers(0, 5))
def test_one_picture_of_a_batch_equals_its_part_of_the_whole_draw(
    rows: int, columns: int, size: int, drawn: int
):
    """Whatever the blocks of 16 hold of it, and the generator goes on as from the whole."""
    for index in range(size):
        whole, part = TorchCpuGenerator(3), TorchCpuGenerator(3)
        expected = whole.randn((size, rows, columns))[index]
        np.testing.assert_array_equal(part.randn_of_batch((rows, columns), index, size), expected)
        np.testing.assert_array_equal(part.randn((drawn,)), whole.randn((drawn,)))


def test_a_long_skip_equals_many_short_ones():
    expected = TorchCpuGenerator(3).randn((3, 200_000))[2]
    ours = TorchCpuGenerator(3).randn_of_batch((200_000,), 2, 3)
    np.testing.assert_array_equal(ours, expected)


def test_normal_values_have_the_moments_of_a_normal_distribution():
    values = TorchCpuGenerator(0).randn((200_000,)).astype(np.float64)
    # Five standard errors of the mean, the variance and the fourth moment.
    assert abs(values.mean()) < 5 * (1 / 200_000) ** 0.5
    assert abs(values.var() - 1) < 5 * (2 / 200_000) ** 0.5
    assert abs((values**4).mean() - 3) < 5 * (96 / 200_000) ** 0.5
