"""The part that a mask keeps while a sampler paints the rest."""

import numpy as np
import pytest

from engine.sampling.masking import Keeping, Kept, MaskedDenoise
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

SHAPE = (1, 4, 6, 5)
TRAINING = NoiseSchedule.scaled_linear()
LEVEL = np.float32(3.0)


def drawn(seed: int) -> Latent:
    return np.random.default_rng(seed).standard_normal(SHAPE, np.float32)


class Shown:
    """A denoiser that halves, keeps what it was shown, and has a negative of its own."""

    def __init__(self) -> None:
        self.x: list[Latent] = []

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        self.x.append(x)
        return x / 2

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        return self(x, sigma), x / 4


def a_kept(mask: Latent | None = None, highest: float = 10.0) -> Kept:
    if mask is None:
        mask = np.zeros((1, 1, 6, 5), np.float32)
        mask[..., 2:] = 1
    return Kept(drawn(1), mask, drawn(2), np.float32(highest))


@pytest.mark.parametrize("keeping", Keeping)
def test_the_painted_part_is_the_denoisers_answer(keeping: Keeping) -> None:
    x, kept = drawn(0), a_kept()
    made = MaskedDenoise(Shown(), kept, keeping, TRAINING)(x, LEVEL)
    np.testing.assert_allclose(made[..., 2:], x[..., 2:] / 2, rtol=1e-6)
    assert made.dtype == np.float32


def test_the_picture_is_replaced_as_a1111_does() -> None:
    x, kept, inner = drawn(0), a_kept(), Shown()
    made = MaskedDenoise(inner, kept, Keeping.PICTURE, TRAINING)(x, LEVEL)
    np.testing.assert_array_equal(inner.x[0], x)
    np.testing.assert_array_equal(made[..., :2], kept.latent[..., :2])


def test_samplers_by_timesteps_show_the_kept_part_without_noise() -> None:
    x, kept, inner = drawn(0), a_kept(), Shown()
    made = MaskedDenoise(inner, kept, Keeping.SHOWN, TRAINING)(x, LEVEL)
    # Latents of unit variance, as A1111's are, times sqrt(1 + sigma^2).
    scale = np.sqrt(1 + LEVEL**2)
    unit = x / scale
    unit[..., :2] = kept.latent[..., :2]
    np.testing.assert_allclose(inner.x[0], unit * scale, rtol=1e-6)
    np.testing.assert_allclose(x - made, inner.x[0] - inner.x[0] / 2, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("keeping", [Keeping.SHOWN_AND_PICTURE, Keeping.SHOWN_LATER])
def test_the_kept_part_is_shown_with_noise(keeping: Keeping) -> None:
    x, inner = drawn(0), Shown()
    # In part, too.
    mask = np.random.default_rng(3).random((1, 1, 6, 5), np.float32)
    kept = a_kept(mask)
    made = MaskedDenoise(inner, kept, keeping, TRAINING)(x, LEVEL)
    shown = x * mask + (kept.latent + kept.noise * LEVEL) * (1 - mask)
    np.testing.assert_allclose(inner.x[0], shown, rtol=1e-6)
    blends = keeping is Keeping.SHOWN_AND_PICTURE
    expected = shown / 2 * mask + kept.latent * (1 - mask) if blends else shown / 2
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)


def test_diffusers_shows_nothing_of_the_kept_part_at_the_first_level() -> None:
    x, inner = drawn(0), Shown()
    MaskedDenoise(inner, a_kept(highest=float(LEVEL)), Keeping.SHOWN_LATER, TRAINING)(x, LEVEL)
    np.testing.assert_array_equal(inner.x[0], x)


@pytest.mark.parametrize("keeping", Keeping)
def test_the_negative_picture_is_not_blended(keeping: Keeping) -> None:
    x, kept, inner = drawn(0), a_kept(), Shown()
    guided, negative = MaskedDenoise(inner, kept, keeping, TRAINING).pair(x, LEVEL)
    alone = MaskedDenoise(Shown(), kept, keeping, TRAINING)(x, LEVEL)
    np.testing.assert_array_equal(guided, alone)
    shown = inner.x[0]
    moved = x - shown if keeping is Keeping.SHOWN else np.zeros_like(x)
    np.testing.assert_allclose(negative, shown / 4 + moved, rtol=1e-5, atol=1e-6)
