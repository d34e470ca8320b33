"""A broken picture is caught; a whole one is not."""

import numpy as np
import pytest

from engine import result_checks

NOISE = np.random.default_rng(0).uniform(-1, 1, (1, 3, 16, 12)).astype(np.float32)


def test_a_picture_passes() -> None:
    assert result_checks.numbers(NOISE) is None
    assert result_checks.picture(NOISE) is None


@pytest.mark.parametrize(
    ("value", "reason"), [(np.nan, "not a number"), (np.inf, "infinite"), (-np.inf, "infinite")]
)
def test_a_single_broken_number_is_enough(value: float, reason: str) -> None:
    broken = NOISE.copy()
    broken[0, 1, 7, 3] = value
    assert result_checks.numbers(broken) == reason
    assert result_checks.picture(broken) == reason


@pytest.mark.parametrize("colour", [(0, 0, 0), (-1, 0.5, 1), (7, -9, 3)])
def test_a_single_colour_is_no_picture(colour: tuple[float, float, float]) -> None:
    flat = np.broadcast_to(np.array(colour, np.float32)[:, None, None], NOISE.shape)
    assert result_checks.is_flat(flat)
    assert result_checks.picture(flat) == "a single colour"
    assert result_checks.numbers(flat) is None
    assert result_checks.is_flat(flat + NOISE / 255)  # less than one level of noise on it


def test_all_white_or_black_once_clipped_is_flat() -> None:
    assert result_checks.is_flat(NOISE + 3)
    assert result_checks.is_flat(100 * NOISE - 200)


@pytest.mark.parametrize("channel", range(3))
def test_something_in_one_channel_is_a_picture(channel: int) -> None:
    image = np.zeros((1, 3, 16, 12), np.float32)
    image[0, channel, 0, 0] = 0.1
    assert not result_checks.is_flat(image)
    assert result_checks.picture(image) is None
