"""Rescaled guidance beside diffusers'."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.sampling.denoiser import Denoiser
from engine.sampling.schedules import NoiseSchedule
from tests.sampling.toy import normals

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
stable_diffusion = pytest.importorskip(
    "diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion"
)

TRAINING = NoiseSchedule.scaled_linear()


@pytest.mark.parametrize("prediction", PredictionType)
@pytest.mark.parametrize("rescale", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("sigma", [14.6, 1.0, 0.05])
def test_rescaled_guidance_equals_diffusers(
    prediction: PredictionType, rescale: float, sigma: float
):
    outputs = normals(range(4), (4, 6, 5))
    positive, negative = np.split(outputs * np.float32(1.3), 2)
    x = normals([8, 9], (4, 6, 5)) * np.float32(sigma)
    text = torch.from_numpy(positive)
    guided = torch.from_numpy(negative) + 7.5 * (text - torch.from_numpy(negative))
    theirs = stable_diffusion.rescale_noise_cfg(guided, text, guidance_rescale=rescale).numpy()

    def both(x, timestep, guided):
        return np.concatenate([positive, negative])

    ours = Denoiser(both, TRAINING, prediction, 7.5, rescale=rescale)(x, np.float32(sigma))
    # The picture that their scheduler would make of the rescaled output.
    expected = Denoiser(lambda *_: theirs, TRAINING, prediction, 1.0)(x, np.float32(sigma))
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)
