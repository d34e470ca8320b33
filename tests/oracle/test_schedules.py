"""Our schedules beside k-diffusion's and diffusers'. A1111's and ComfyUI's own are frozen.

| schedule                                 | reference                                  | relative |
| ---------------------------------------- | ------------------------------------------ | -------- |
| Karras, Exponential, Polyexponential     | k-diffusion `get_sigmas_*`                 | 1e-6     |
| Uniform                                  | k-diffusion `DiscreteSchedule.get_sigmas`  | 2e-6     |
| Normal, SGM Uniform, DDIM of diffusers   | `EulerDiscreteScheduler`, by its spacing   | 3e-7     |
| Karras, Exponential, Beta of diffusers   | `EulerDiscreteScheduler(use_..._sigmas)`   | 4e-6     |
| levels of training                       | `CompVisDenoiser`, `EulerDiscreteScheduler`| 3e-7     |
| zero-terminal SNR of diffusers           | `EulerDiscreteScheduler`                   | 1e-5     |
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and k-diffusion are absent from the environment that is type-checked.

from types import SimpleNamespace

import numpy as np
import pytest

from engine.api.conventions import RedrawSteps
from engine.api.request import ScheduleOptions
from engine.api.values import ConventionName, ScheduleName
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.schedules import NoiseSchedule, ScheduleChoice, redraw_sigmas, sigmas_for
from engine.sampling.schedules.ramp import linspace

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
stats = pytest.importorskip("scipy.stats")
reference = pytest.importorskip("tests.oracle.reference")
k_diffusion = reference.load("sampling")

TRAINING = NoiseSchedule.scaled_linear()
IN_DIFFUSERS = NoiseSchedule.scaled_linear(convention=ConventionName.DIFFUSERS)
STEP_COUNTS = (1, 2, 3, 8, 20, 50, 150, 1000)
SD = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}


@pytest.mark.parametrize("ends", [(999, 0), (0, 1), (1, 0), (2.68, -3.53), (0.029, 0.1095)])
def test_evenly_spaced_values_equal_torchs_to_the_last_bit(ends: tuple[float, float]):
    for count in STEP_COUNTS:
        np.testing.assert_array_equal(linspace(*ends, count), torch.linspace(*ends, count).numpy())


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


@pytest.mark.parametrize("steps", STEP_COUNTS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        (ScheduleName.KARRAS, ScheduleOptions()),
        (ScheduleName.KARRAS, ScheduleOptions(sigma_min=0.1, sigma_max=10, rho=3)),
        (ScheduleName.EXPONENTIAL, ScheduleOptions()),
        (ScheduleName.EXPONENTIAL, ScheduleOptions(sigma_min=0.002, sigma_max=700)),
        (ScheduleName.POLYEXPONENTIAL, ScheduleOptions()),
        (ScheduleName.POLYEXPONENTIAL, ScheduleOptions(rho=0.5)),
        (ScheduleName.POLYEXPONENTIAL, ScheduleOptions(rho=1.3, sigma_max=80)),
    ],
)
def test_schedules_by_level_are_those_of_k_diffusion(
    name: ScheduleName, options: ScheduleOptions, steps: int
):
    function = getattr(k_diffusion, f"get_sigmas_{name}")
    low = options.sigma_min or float(TRAINING.sigma_min)
    high = options.sigma_max or float(TRAINING.sigma_max)
    rho = {} if options.rho is None else {"rho": options.rho}
    expected = function(steps, low, high, **rho).numpy()
    np.testing.assert_allclose(sigmas_for(name, steps, TRAINING, options), expected, rtol=1e-6)


@pytest.mark.parametrize("steps", STEP_COUNTS)
@pytest.mark.parametrize("name", [ScheduleName.UNIFORM, ScheduleName.NORMAL])
def test_schedules_by_timestep_are_those_of_k_diffusion(name: ScheduleName, steps: int):
    expected = reference.denoiser(None).get_sigmas(steps).numpy()
    np.testing.assert_allclose(sigmas_for(name, steps, TRAINING), expected, rtol=2e-6)


def diffusers_levels(steps: int, **options: object) -> np.ndarray:
    scheduler = diffusers.EulerDiscreteScheduler(**SD, steps_offset=1, **options)
    scheduler.set_timesteps(steps)
    return scheduler.sigmas.numpy()


@pytest.mark.parametrize("steps", [1, 2, 7, 20, 150, 999])
@pytest.mark.parametrize(
    ("name", "spacing"),
    [
        (ScheduleName.NORMAL, "linspace"),
        (ScheduleName.SGM_UNIFORM, "trailing"),
        (ScheduleName.DDIM, "leading"),
    ],
)
def test_schedules_equal_diffusers_spacings(name: ScheduleName, spacing: str, steps: int):
    expected = diffusers_levels(steps, timestep_spacing=spacing)
    choice = ScheduleChoice(name, IN_DIFFUSERS, convention=ConventionName.DIFFUSERS)
    np.testing.assert_allclose(choice.sigmas(steps), expected, rtol=3e-7)


@pytest.mark.parametrize("steps", [2, 7, 20])
@pytest.mark.parametrize("name", [ScheduleName.KARRAS, ScheduleName.EXPONENTIAL, ScheduleName.BETA])
def test_schedules_by_level_are_those_of_diffusers(name: ScheduleName, steps: int):
    expected = diffusers_levels(steps, **{f"use_{name}_sigmas": True})
    choice = ScheduleChoice(name, IN_DIFFUSERS, convention=ConventionName.DIFFUSERS)
    np.testing.assert_allclose(choice.sigmas(steps), expected, rtol=4e-6)


def training_levels_of_diffusers(**options: object) -> np.ndarray:
    alphas = diffusers.EulerDiscreteScheduler(**SD, **options).alphas_cumprod
    return ((1 - alphas) / alphas).sqrt().numpy()


def test_training_sigmas_are_those_of_diffusers():
    np.testing.assert_allclose(IN_DIFFUSERS.sigmas, training_levels_of_diffusers(), rtol=3e-7)
    # Which are not A1111's: it multiplies in float64.
    assert np.abs(IN_DIFFUSERS.sigmas / TRAINING.sigmas - 1).max() > 5e-6


def test_zero_terminal_snr_is_that_of_diffusers():
    ours = IN_DIFFUSERS.with_zero_terminal_snr().sigmas
    theirs = training_levels_of_diffusers(rescale_betas_zero_snr=True)
    # torch's roots may be off by a last bit, which the steps to the variances and back enlarge.
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert ours[-1] == pytest.approx(4096, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 7, 20, 50])
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.29, 0.5, 0.8, 1.0])
def test_redrawing_takes_the_steps_of_diffusers(strength: float, steps: int):
    scheduler = diffusers.EulerDiscreteScheduler(**SD)
    scheduler.set_timesteps(steps)
    pipeline = SimpleNamespace(scheduler=scheduler)
    timesteps, _ = diffusers.StableDiffusionImg2ImgPipeline.get_timesteps(
        pipeline, steps, strength, "cpu"
    )
    choice = ScheduleChoice(ScheduleName.NORMAL, IN_DIFFUSERS, convention=ConventionName.DIFFUSERS)
    levels = redraw_sigmas(choice, steps, strength, RedrawSteps.DIFFUSERS)
    expected = scheduler.sigmas.numpy()[steps - len(timesteps) :]
    np.testing.assert_allclose(levels.taken, expected, rtol=3e-7)


@pytest.mark.parametrize(("a", "b"), [(0.6, 0.6), (0.5, 1.5), (2.0, 0.3), (1.0, 1.0)])
def test_beta_quantiles_equal_scipys(a: float, b: float):
    p = np.concatenate([np.linspace(0, 1, 1001), [1e-9, 1 - 1e-9]])
    np.testing.assert_allclose(beta_quantile(p, a, b), stats.beta.ppf(p, a, b), rtol=0, atol=1e-12)
