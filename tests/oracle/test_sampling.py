"""Our schedules, denoiser, DDIM and LCM beside k-diffusion's and diffusers'."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and k-diffusion are absent from the environment that is type-checked.

import numpy as np
import pytest

from engine.api.values import PredictionType, ScheduleName
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.denoiser import Denoiser
from engine.sampling.noise import SeededNoise
from engine.sampling.samplers import ddim, lcm
from engine.sampling.schedules import NoiseSchedule, sigmas_for
from tests.sampling.toy import SHAPE, RecordedNoise, mixture_denoise, no_noise

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
stats = pytest.importorskip("scipy.stats")
reference = pytest.importorskip("tests.oracle.reference")

TRAINING = NoiseSchedule.scaled_linear()
STEP_COUNTS = (1, 2, 3, 8, 20, 50, 150, 1000)


def test_training_sigmas_are_those_of_k_diffusion():
    theirs = reference.denoiser(None)
    np.testing.assert_allclose(TRAINING.sigmas, theirs.sigmas.numpy(), rtol=2e-7)
    np.testing.assert_allclose(TRAINING.log_sigmas, theirs.log_sigmas.numpy(), rtol=0, atol=5e-7)


def test_levels_and_timesteps_convert_as_in_k_diffusion():
    theirs = reference.denoiser(None)
    sigmas = np.exp(np.random.default_rng(0).uniform(-4.5, 3.5, 500)).astype(np.float32)
    ours = np.array([TRAINING.sigma_to_timestep(sigma) for sigma in sigmas])
    assert ours.dtype == np.float32
    timesteps = theirs.sigma_to_t(torch.from_numpy(sigmas)).numpy()
    np.testing.assert_allclose(ours, timesteps, rtol=0, atol=2e-4)
    np.testing.assert_allclose(
        TRAINING.timestep_to_sigma(timesteps),
        theirs.t_to_sigma(torch.from_numpy(timesteps)).numpy(),
        rtol=1e-6,
    )


@pytest.mark.parametrize("name", ScheduleName)
def test_schedules_are_those_of_the_reference(name: ScheduleName):
    expected = reference.reference_schedules(STEP_COUNTS)
    for steps in STEP_COUNTS:
        ours = sigmas_for(name, steps, TRAINING)
        np.testing.assert_allclose(ours, expected[f"{name}/{steps}"], rtol=2e-6)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning:diffusers")
@pytest.mark.parametrize("name", [ScheduleName.KARRAS, ScheduleName.BETA])
def test_schedules_are_those_of_diffusers(name: ScheduleName):
    """diffusers sums the training products in float32, which moves the lowest sigmas by 1e-4."""
    theirs = diffusers.EulerDiscreteScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        **{f"use_{name}_sigmas": True},
    )
    theirs.set_timesteps(20)
    np.testing.assert_allclose(sigmas_for(name, 20, TRAINING), theirs.sigmas.numpy(), rtol=2e-4)


@pytest.mark.parametrize(("a", "b"), [(0.6, 0.6), (0.5, 1.5), (2.0, 0.3), (1.0, 1.0)])
def test_beta_quantiles_are_scipys(a: float, b: float):
    p = np.concatenate([np.linspace(0, 1, 1001), [1e-9, 1 - 1e-9]])
    np.testing.assert_allclose(beta_quantile(p, a, b), stats.beta.ppf(p, a, b), rtol=0, atol=1e-12)


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


def test_ddim_is_diffusers_ddim_at_its_timesteps():
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


def test_lcm_is_diffusers_lcm_but_for_its_boundary_scalings():
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
def test_denoiser_is_the_wrapper_of_k_diffusion(
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
        x = SeededNoise([1, 2], SHAPE[1:]).draw() * sigma
        inputs = torch.from_numpy(x), torch.full((2,), float(sigma))
        positive, negative = (theirs(*inputs, cond=cond) for cond in (1, -1))
        expected = negative + (positive - negative) * guidance
        result = ours(x, sigma)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected.numpy(), rtol=1e-6, atol=2e-5)
