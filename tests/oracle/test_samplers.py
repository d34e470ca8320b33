"""Our samplers beside k-diffusion's, step by step: see tests/sampling/references.py."""
# pyright: basic, reportMissingImports=false
# torch and k-diffusion are absent from the environment that is type-checked.

import numpy as np
import pytest

from engine.api.values import ScheduleName
from engine.sampling.samplers.times import level_at, time_of
from engine.sampling.schedules import NoiseSchedule, sigmas_for
from tests.sampling.references import REFERENCES
from tests.sampling.toy import DRAWS, RecordedNoise, draws, mixture_denoise

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
reference = pytest.importorskip("tests.oracle.reference")

TRAINING = NoiseSchedule.scaled_linear()


def compare(name: str, sigmas: np.ndarray, tolerance: float) -> None:
    """Both samplers in the dtype of the levels: x, pictures, and the intervals of the noise."""
    noise = draws(DRAWS + 1).astype(sigmas.dtype)
    x, noise = noise[0] * sigmas[0], noise[1:]
    theirs = reference.trajectory(REFERENCES[name], *map(torch.from_numpy, (x, sigmas, noise)))
    play = RecordedNoise(noise)
    intervals = []

    def asked(sigma, sigma_next):
        intervals.append((sigma, sigma_next))
        return play(sigma, sigma_next)

    steps = list(REFERENCES[name].ours(mixture_denoise, x, sigmas, asked))
    ours = np.stack([step.x for step in steps])[-len(theirs.x) :]
    denoised = np.stack([step.denoised for step in steps])
    assert ours.dtype == sigmas.dtype
    np.testing.assert_allclose(ours, theirs.x, rtol=0, atol=tolerance)
    np.testing.assert_allclose(denoised, theirs.denoised, rtol=0, atol=tolerance)
    # Churn asks torch itself, and what is multiplied by 0 we do not draw.
    if intervals and len(theirs.intervals):
        np.testing.assert_allclose(intervals, theirs.intervals, rtol=max(1e-6, tolerance / 100))


@pytest.mark.parametrize("schedule", ScheduleName)
@pytest.mark.parametrize("name", REFERENCES)
def test_samplers_follow_k_diffusion_step_by_step(name: str, schedule: ScheduleName):
    compare(name, sigmas_for(schedule, 12, TRAINING), REFERENCES[name].tolerance)


@pytest.mark.parametrize("steps", [2, 3, 4, 25])
@pytest.mark.parametrize("name", REFERENCES)
def test_samplers_equal_those_of_k_diffusion_except_for_rounding(name: str, steps: int):
    """In float64: what differs here differs in arithmetic."""
    compare(name, sigmas_for(ScheduleName.NORMAL, steps, TRAINING).astype(np.float64), 1e-10)


def test_times_are_rounded_as_in_torch():
    """Nearly always; NumPy's functions of float32 are in three cases of five."""
    sigmas = np.exp(np.random.default_rng(0).uniform(-3.5, 2.7, 2000)).astype(np.float32)
    ours = np.array([level_at(time_of(sigma)) for sigma in sigmas])
    theirs = torch.from_numpy(sigmas).log().neg().neg().exp().numpy()
    assert (ours == theirs).mean() > 0.9
