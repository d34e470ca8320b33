"""Philox against published vectors, and torch's use of it on NVIDIA cards."""

import numpy as np
import pytest

from engine.sampling.noise import TorchCudaGenerator, philox4x32

# counter, key, output: the three lines "philox4x32 10" of Random123's tests/kat_vectors.
KNOWN_ANSWERS = """
00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1
"""


@pytest.mark.parametrize("line", KNOWN_ANSWERS.strip().splitlines())
def test_the_published_vectors_are_reproduced(line: str):
    words = [int(word, 16) for word in line.split()]
    counter = np.array(words[:4], np.uint64)[:, np.newaxis]
    output = philox4x32(counter, (words[4], words[5]))
    assert output[:, 0].tolist() == words[6:]


def test_the_first_normal_values_of_seed_0_equal_torchs():
    """`torch.manual_seed(0); torch.randn(3, 4, device="cuda")`, from A1111's rng_philox.py."""
    expected = [
        [-0.92466259, -0.42534415, -2.6438457, 0.14518388],
        [-0.12086647, -0.57972564, -0.62285122, -0.32838709],
        [-1.07454231, -0.36314407, -1.67105067, 2.26550497],
    ]
    drawn = TorchCudaGenerator(0).randn((3, 4))
    assert drawn.dtype == np.float32
    np.testing.assert_allclose(drawn, expected, rtol=0, atol=3e-7)


def test_a_value_depends_only_on_its_place_and_its_draw():
    """A thread per value: a longer draw begins with the shorter one, and each draw is another."""
    long, short = TorchCudaGenerator(5), TorchCudaGenerator(5)
    for _ in range(3):
        np.testing.assert_array_equal(long.randn((40,))[:7], short.randn((7,)))
    assert not np.array_equal(long.randn((7,)), long.randn((7,)))


def test_an_empty_draw_does_not_advance_the_generator():
    generator = TorchCudaGenerator(5)
    assert generator.randn((0, 4)).shape == (0, 4)
    np.testing.assert_array_equal(generator.randn((5,)), TorchCudaGenerator(5).randn((5,)))


def test_one_picture_of_a_batch_equals_its_part_of_the_whole_draw():
    whole, part = TorchCudaGenerator(3), TorchCudaGenerator(3)
    for index in (2, 0):
        expected = whole.randn((3, 4, 90, 91))[index]
        np.testing.assert_array_equal(part.randn_of_batch((4, 90, 91), index, 3), expected)


def test_all_64_bits_of_a_seed_count():
    drawn = [TorchCudaGenerator(seed).randn((4,)).tolist() for seed in (7, 7 + 2**32, 7 + 2**63)]
    assert len({tuple(values) for values in drawn}) == 3
    assert TorchCudaGenerator(-1).randn((4,)).tolist() == (
        TorchCudaGenerator(2**64 - 1).randn((4,)).tolist()
    )


def test_normal_values_have_the_moments_of_a_normal_distribution():
    values = TorchCudaGenerator(0).randn((200_000,)).astype(np.float64)
    # Five standard errors of the mean, the variance and the fourth moment.
    assert abs(values.mean()) < 5 * (1 / 200_000) ** 0.5
    assert abs(values.var() - 1) < 5 * (2 / 200_000) ** 0.5
    assert abs((values**4).mean() - 3) < 5 * (96 / 200_000) ** 0.5
