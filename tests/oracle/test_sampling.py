"""Our denoiser, DDIM and LCM beside k-diffusion's and diffusers'."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and k-diffusion are absent from the environment that is type-checked.

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.sampling.denoiser import Denoiser
from engine.sampling.samplers import ddim, lcm
from engine.sampling.schedules import NoiseSchedule
from tests.sampling.toy import SHAPE, RecordedNoise, mixture_denoise, no_noise, normals

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
reference = pytest.importorskip("tests.oracle.reference")

TRAINING = NoiseSchedule.scaled_linear()


def diffusers_trajectory(scheduler, x):
    """Run a diffusers scheduler in variance-preserving form on `mixture_denoise`.

    Returns the levels of its timesteps, and the sample after each step.
    """
    alphas = scheduler.alphas_cumprod
    sigmas = ((1 - alphas) / alphas).sqrt()
    sample = x / (1 + sigmas[scheduler.timesteps[0]] ** 2).sqrt()
    samples = []
    for timestep in scheduler.timesteps:
        sigma = sigmas[timestep]
        exploding = sample * (1 + sigma**2).sqrt()
        output = (exploding - mixture_denoise(exploding, sigma, torch.tanh)) / sigma
        sample = scheduler.step(output, timestep, sample).prev_sample
        samples.append(sample.numpy())
    return sigmas[scheduler.timesteps].numpy(), samples


def test_ddim_equals_diffusers_ddim_at_its_timesteps():
    scheduler = diffusers.DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
    )
    scheduler.set_timesteps(20)
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)) * 14
    levels, theirs = diffusers_trajectory(scheduler, x)
    # The timestep before 1 is -49, for which diffusers takes the level of timestep 0.
    end = scheduler.final_alpha_cumprod
    sigmas = np.append(levels, np.float32(((1 - end) / end).sqrt()))
    ours = ddim(mixture_denoise, x.numpy(), sigmas, no_noise)
    for step, sample in zip(ours, theirs, strict=True):
        scale = np.sqrt(1 + sigmas[step.index + 1] ** 2)
        np.testing.assert_allclose(step.x / scale, sample, rtol=0, atol=1e-5)


def test_lcm_equals_diffusers_lcm_except_for_boundary_scalings():
    scheduler = diffusers.LCMScheduler(
        beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False
    )
    scheduler.set_timesteps(4)
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)) * 14
    torch.manual_seed(9)
    levels, theirs = diffusers_trajectory(scheduler, x)
    torch.manual_seed(9)
    draws = np.stack([torch.randn(SHAPE).numpy() for _ in range(3)])
    sigmas = np.append(levels, np.float32(0))
    ours = lcm(mixture_denoise, x.numpy(), sigmas, RecordedNoise(draws))
    for step, sample in zip(ours, theirs, strict=True):
        scale = np.sqrt(1 + sigmas[step.index + 1] ** 2)
        np.testing.assert_allclose(step.x / scale, sample, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("prediction", "wrapper"),
    [
        (PredictionType.EPSILON, "CompVisDenoiser"),
        (PredictionType.V, "CompVisVDenoiser"),
    ],
)
@pytest.mark.parametrize("guidance", [1.0, 7.5])
def test_the_denoiser_equals_the_wrapper_of_k_diffusion(
    prediction: PredictionType, wrapper: str, guidance: float
):
    """The network is any function of x, timestep and prompt; the two prompts are 1 and -1."""

    def predict(x, timestep, guided):
        prompts = (1, -1) if guided else (1,)
        return np.concatenate([np.tanh(x * prompt) + timestep / 1000 for prompt in prompts])

    def apply_model(x, timestep, cond):
        return torch.tanh(x * cond) + timestep[:, None, None, None] / 1000

    theirs = reference.denoiser(apply_model, wrapper)
    ours = Denoiser(predict, TRAINING, prediction, guidance)
    for sigma in np.array([14.6, 3.3, 0.5, 0.03], np.float32):
        x = normals([1, 2], SHAPE[1:]) * sigma
        inputs = torch.from_numpy(x), torch.full((2,), float(sigma))
        positive, negative = (theirs(*inputs, cond=cond) for cond in (1, -1))
        expected = negative + (positive - negative) * guidance
        result = ours(x, sigma)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected.numpy(), rtol=1e-6, atol=2e-5)
