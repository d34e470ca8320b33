"""What the network is asked, and what is made of its answer."""

import numpy as np
import pytest

from engine.api.conventions import InitialNoise
from engine.api.values import PredictionType
from engine.sampling.denoiser import Denoiser, initial_latents, noised
from engine.sampling.noise import SeededNoise
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

TRAINING = NoiseSchedule.scaled_linear()
SIGMA = np.float32(3.0)
NOISE = SeededNoise([1, 2], (4, 3, 5)).draw()
PICTURE = SeededNoise([3, 4], (4, 3, 5)).draw()


@pytest.mark.parametrize("prediction", PredictionType)
def test_a_perfect_network_gives_the_picture_back(prediction: PredictionType):
    """The network sees alpha * picture + spread * noise with alpha^2 + spread^2 = 1."""
    alpha, spread = 1 / np.sqrt(10), 3 / np.sqrt(10)
    answers = {
        PredictionType.EPSILON: NOISE,
        PredictionType.V: alpha * NOISE - spread * PICTURE,
    }

    def predict(x: Latent, timestep: np.float32) -> Latent:
        np.testing.assert_allclose(x, alpha * PICTURE + spread * NOISE, atol=1e-6)
        assert timestep == TRAINING.sigma_to_timestep(SIGMA)
        return answers[prediction].astype(np.float32)

    denoise = Denoiser(predict, TRAINING, prediction, guidance=1.0)
    result = denoise(noised(PICTURE, NOISE, SIGMA), SIGMA)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, PICTURE, rtol=0, atol=3e-6)


@pytest.mark.parametrize("prediction", PredictionType)
def test_guidance_moves_away_from_the_negative_half(prediction: PredictionType):
    """One call answers for both halves, the prompt's first."""
    calls: list[tuple[int, ...]] = []
    answer = SeededNoise([5, 6, 7, 8], (4, 3, 5)).draw()

    def both(x: Latent, timestep: np.float32) -> Latent:
        calls.append(x.shape)
        return answer

    def half(part: slice) -> Latent:
        def predict(x: Latent, timestep: np.float32) -> Latent:
            return answer[part]

        return Denoiser(predict, TRAINING, prediction, guidance=1.0)(x, SIGMA)

    x = noised(PICTURE, NOISE, SIGMA)
    result = Denoiser(both, TRAINING, prediction, guidance=7.0)(x, SIGMA)
    positive, negative = half(slice(2)), half(slice(2, 4))
    assert calls == [(2, 4, 3, 5)]
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, 7 * positive - 6 * negative, rtol=0, atol=1e-4)


def test_without_guidance_only_the_prompt_is_run():
    calls: list[tuple[int, ...]] = []

    def predict(x: Latent, timestep: np.float32) -> Latent:
        calls.append(x.shape)
        return x

    denoiser = Denoiser(predict, TRAINING, PredictionType.EPSILON, guidance=1.0)
    denoiser(NOISE, SIGMA)
    assert not denoiser.guided
    assert calls == [NOISE.shape]


def test_initial_latents_follow_the_convention():
    plain = initial_latents(NOISE, SIGMA, InitialNoise.SIGMA)
    np.testing.assert_array_equal(plain, NOISE * SIGMA)
    comfy = initial_latents(NOISE, SIGMA, InitialNoise.VARIANCE)
    assert comfy.dtype == np.float32
    np.testing.assert_allclose(comfy, NOISE * np.sqrt(10), rtol=1e-6)


def test_a_picture_is_brought_to_the_level():
    result = noised(PICTURE, NOISE, SIGMA)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, PICTURE + 3 * NOISE, rtol=0, atol=1e-6)
