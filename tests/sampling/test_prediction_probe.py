"""A denoiser's prediction type shows in its output for noise, and nothing else is believed."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.sampling.prediction_probe import Ask, ProbeResult, probe_prediction
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

SHAPE = (4, 32, 32)
ALPHAS = NoiseSchedule.scaled_linear().alphas.astype(np.float64)


def optimal(prediction: PredictionType, slope: float) -> Ask:
    """The best denoiser of Gaussian pictures whose amplitudes fall off as frequency**-slope."""
    rows = np.fft.fftfreq(SHAPE[1])[:, None]
    columns = np.fft.rfftfreq(SHAPE[2])[None]
    power = np.maximum(np.hypot(rows, columns), 1 / SHAPE[1]) ** (-2 * slope)
    # The whole spectrum has twice these columns but for the first and the last.
    weight = np.where((columns == 0) | (columns == 0.5), 1, 2) * np.ones_like(rows)
    power = power * weight.sum() / (weight * power).sum()

    def ask(x: Latent, timestep: np.float32) -> Latent:
        a, s = np.sqrt(ALPHAS[int(timestep)]), np.sqrt(1 - ALPHAS[int(timestep)])
        noisy = np.fft.rfft2(x)
        picture = noisy * (a * power / (a**2 * power + s**2))
        noise = (noisy - a * picture) / s
        answer = noise if prediction is PredictionType.EPSILON else a * noise - s * picture
        return np.fft.irfft2(answer, s=SHAPE[1:]).astype(np.float32)

    return ask


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("prediction", [PredictionType.EPSILON, PredictionType.V])
def test_optimal_denoisers_of_rough_and_smooth_pictures_are_recognised(
    prediction: PredictionType, slope: float
) -> None:
    assert probe_prediction(optimal(prediction, slope), SHAPE).prediction is prediction


def test_the_gains_equal_those_of_the_derivation() -> None:
    """The gains for pictures without high frequencies: (1 - a r) / s and (a - r) / s with r = 0."""
    a, s = np.sqrt(ALPHAS[500]), np.sqrt(1 - ALPHAS[500])
    noise = probe_prediction(optimal(PredictionType.EPSILON, 6.0), SHAPE)
    velocity = probe_prediction(optimal(PredictionType.V, 6.0), SHAPE)
    assert noise.highest == pytest.approx(1, abs=0.01)
    assert noise.middle == pytest.approx(1 / s, abs=0.01)
    assert velocity.highest == pytest.approx(0, abs=0.07)
    assert velocity.middle == pytest.approx(a / s, abs=0.01)


def answers(make: Callable[[Latent], Latent]) -> ProbeResult:
    return probe_prediction(lambda x, _: make(x), SHAPE)


def test_an_ambiguous_answer_gives_no_prediction_type() -> None:
    unrelated = np.random.default_rng(1).standard_normal((1, *SHAPE), np.float32)
    assert answers(np.zeros_like).prediction is None
    assert answers(lambda _: unrelated).prediction is None  # untrained
    assert answers(lambda x: x / 2).prediction is None  # between the two
    assert answers(np.negative).prediction is None
    assert answers(lambda x: x * np.float32(np.nan)).prediction is None
