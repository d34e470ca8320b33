"""Levels and steps of denoisers trained as in EDM, beside ComfyUI's formulas written down again.

comfy/model_sampling.py (EDM, V_PREDICTION, ModelSamplingContinuousEDM), comfy/samplers.py
(normal_scheduler), comfy/k_diffusion/sampling.py (sample_euler); in float64.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.values import ConventionName, PredictionType, SamplerName, ScheduleName
from engine.sampling.denoiser import Denoiser
from engine.sampling.noise_model import VarianceExploding
from engine.sampling.plan import plan_sampling
from engine.sampling.schedules import AlignedFor, EdmLevels
from engine.sampling.types import Latent
from tests.sampling.test_plan import asked
from tests.sampling.toy import normals

Exact = NDArray[np.float64]
CASES = {
    PredictionType.EDM: (0.002, 80.0, 0.5),
    PredictionType.EDM_V: (0.01, 120.0, 1.0),
}
STEPS = 6


def network(seen: Exact, told: float) -> Exact:
    return np.sin(3 * seen + told) * 0.7


def comfys(noise: Latent, prediction: PredictionType) -> Exact:
    low, high, data = CASES[prediction]
    times = np.linspace(0.25 * math.log(high), 0.25 * math.log(low), STEPS)
    sigmas = [*np.exp(times / 0.25), 0.0]
    x = noise.astype(np.float64) * math.sqrt(1 + sigmas[0] ** 2)
    sign = 1 if prediction is PredictionType.EDM else -1
    for sigma, following in pairwise(sigmas):
        whole = sigma**2 + data**2
        output = network(x / math.sqrt(whole), 0.25 * math.log(sigma))
        denoised = x * data**2 / whole + sign * output * sigma * data / math.sqrt(whole)
        x = x + (x - denoised) / sigma * (following - sigma)
    return x


@pytest.mark.parametrize("prediction", CASES)
def test_levels_and_steps_equal_comfyuis_formulas(prediction: PredictionType) -> None:
    noise = normals([1], (4, 3, 5))
    changes = {"sampler": SamplerName.EULER, "schedule": ScheduleName.NORMAL, "steps": STEPS}
    model = VarianceExploding(prediction, AlignedFor.SDXL, EdmLevels(*CASES[prediction]))
    request = asked(ConventionName.COMFY, **changes)
    plan = plan_sampling(request, model, redraws=False)

    def predict(x: Latent, told: np.float32, guided: bool) -> Latent:
        return network(x.astype(np.float64), float(told)).astype(np.float32)

    denoise = Denoiser(predict, plan.training, prediction, 1.0)
    *_, last = plan.sampler(
        denoise, plan.start(noise, None), plan.sigmas, lambda sigma, sigma_next: noise
    )
    np.testing.assert_allclose(plan.finish(last.x), comfys(noise, prediction), rtol=0, atol=2e-4)
