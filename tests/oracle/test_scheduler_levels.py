"""The levels and timesteps that each of diffusers' schedulers visits, and what comes of them."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import inspect
from typing import Any

import numpy as np
import pytest

from engine.api.request import SamplerOptions
from engine.api.values import ConventionName, PredictionType, SamplerName, ScheduleName
from engine.sampling.denoiser import Denoiser
from engine.sampling.samplers import bind_options
from engine.sampling.schedules import NoiseSchedule, ScheduleChoice
from engine.sampling.schedules.scheduler_levels import scheduler_levels
from tests.sampling.tool_networks import SHAPE, predict_noise
from tests.sampling.toy import RecordedNoise

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

# Of Stable Diffusion's scheduler_config.json.
CONFIG = {
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "steps_offset": 1,
    "set_alpha_to_one": False,
    "clip_sample": False,
    "skip_prk_steps": True,
}
TRAINING = NoiseSchedule.scaled_linear(convention=ConventionName.DIFFUSERS)
SCHEDULERS = {
    SamplerName.EULER: "EulerDiscreteScheduler",
    SamplerName.EULER_ANCESTRAL: "EulerAncestralDiscreteScheduler",
    SamplerName.LMS: "LMSDiscreteScheduler",
    SamplerName.DPMPP_2M: "DPMSolverMultistepScheduler",
    SamplerName.DPMPP_2M_SDE: "DPMSolverMultistepScheduler",
    SamplerName.DEIS: "DEISMultistepScheduler",
    SamplerName.UNIPC: "UniPCMultistepScheduler",
    SamplerName.DDIM: "DDIMScheduler",
    SamplerName.DDPM: "DDPMScheduler",
    SamplerName.PLMS: "PNDMScheduler",
    SamplerName.LCM: "LCMScheduler",
    SamplerName.TCD: "TCDScheduler",
}
WHOLE_RUNS = SCHEDULERS | {
    SamplerName.HEUN: "HeunDiscreteScheduler",
    SamplerName.DPM2: "KDPM2DiscreteScheduler",
    SamplerName.DPM2_ANCESTRAL: "KDPM2AncestralDiscreteScheduler",
}
SPACINGS = {
    ScheduleName.NORMAL: {"timestep_spacing": "linspace"},
    ScheduleName.DDIM: {"timestep_spacing": "leading"},
    ScheduleName.SGM_UNIFORM: {"timestep_spacing": "trailing"},
    ScheduleName.KARRAS: {"use_karras_sigmas": True},
    ScheduleName.EXPONENTIAL: {"use_exponential_sigmas": True},
    ScheduleName.BETA: {"use_beta_sigmas": True},
}


def settings_of(sampler: SamplerName, schedule: ScheduleName) -> dict[str, Any] | None:
    """The settings that the scheduler is made with; None where it has no such spacing."""
    known = inspect.signature(getattr(diffusers, WHOLE_RUNS[sampler]).__init__).parameters
    if not SPACINGS[schedule].keys() <= known.keys():
        return None
    settings = CONFIG | SPACINGS[schedule]
    return {name: value for name, value in settings.items() if name in known}


_BY_LEVEL = (ScheduleName.KARRAS, ScheduleName.EXPONENTIAL, ScheduleName.BETA)
CASES = [
    (sampler, schedule, steps)
    for sampler in SCHEDULERS
    for schedule in SPACINGS
    for steps in (1, 7, 20, 50)
    if settings_of(sampler, schedule) is not None
    # A single step by level is told timestep 0 there, at the highest level: a slip.
    and not (steps == 1 and schedule in _BY_LEVEL and sampler in ("euler", "lms"))
]


@pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")
@pytest.mark.parametrize(("sampler", "schedule", "steps"), CASES)
def test_levels_and_timesteps_equal_the_schedulers(
    sampler: SamplerName, schedule: ScheduleName, steps: int
):
    theirs = getattr(diffusers, SCHEDULERS[sampler])(**(settings_of(sampler, schedule) or {}))
    theirs.set_timesteps(steps)
    choice = ScheduleChoice(schedule, TRAINING, convention=ConventionName.DIFFUSERS)
    ours = scheduler_levels(sampler, choice, steps)
    timesteps = theirs.timesteps.numpy()
    if sampler is SamplerName.PLMS:
        timesteps = np.delete(timesteps, 1) if steps > 1 else timesteps
    told = [ours.training.sigma_to_timestep(sigma) for sigma in ours.sigmas[:-1]]
    np.testing.assert_allclose(told, timesteps, rtol=0, atol=5e-3)
    products = theirs.alphas_cumprod
    if hasattr(theirs, "sigmas") and sampler not in (SamplerName.LCM, SamplerName.TCD):
        expected = theirs.sigmas.numpy()
    else:
        visited = products[torch.from_numpy(timesteps).long()]
        levels = ((1 - visited) / visited).sqrt().numpy()
        zero = sampler in (SamplerName.DDPM, SamplerName.LCM)
        end = 0 if zero else ((1 - products[0]) / products[0]).sqrt().item()
        expected = np.append(levels, np.float32(end))
    np.testing.assert_allclose(ours.sigmas, expected, rtol=3e-6)
    # init_noise_sigma is for latents in their form.
    exploding = float(theirs.init_noise_sigma) != 1.0
    scale = 1.0 if exploding else np.sqrt(1 + expected[0] ** 2)
    assert ours.noise_scale == pytest.approx(float(theirs.init_noise_sigma) * scale, rel=1e-6)


# Where diffusers does not do what its paper says, and has no levels that we could visit:
# DDIM and PNDM go down 1000 // steps timesteps whatever the spacing; LMS takes weights for slopes
# that it has not got, and PNDM asks the network a level ahead of x, where a run begins late.
SLIPS = {
    (SamplerName.DDIM, ScheduleName.NORMAL, False),
    (SamplerName.DDIM, ScheduleName.NORMAL, True),
    (SamplerName.PLMS, ScheduleName.NORMAL, False),
}
RUNS = [
    (sampler, schedule, redrawn)
    for sampler in WHOLE_RUNS
    for schedule in SPACINGS
    for redrawn in (False, True)
    if settings_of(sampler, schedule) is not None
    and (sampler, schedule, redrawn) not in SLIPS
    and not (redrawn and sampler in (SamplerName.LMS, SamplerName.PLMS))
]


@pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")
@pytest.mark.parametrize(("sampler", "schedule", "redrawn"), RUNS)
def test_whole_runs_give_the_same_latents(
    sampler: SamplerName, schedule: ScheduleName, redrawn: bool
):
    """From standard normal noise, and a picture, to what is decoded, through the network."""
    settings = settings_of(sampler, schedule) or {}
    if sampler is SamplerName.DPMPP_2M_SDE:
        settings["algorithm_type"] = "sde-dpmsolver++"
    theirs = getattr(diffusers, WHOLE_RUNS[sampler])(**settings)
    steps, strength = 10, 0.6 if redrawn else None
    stream = torch.Generator().manual_seed(5)
    noise, init = torch.randn((2, *SHAPE), generator=stream)
    stream.manual_seed(6)
    expected = their_run(theirs, steps, noise, None if strength is None else init, strength, stream)
    stream.manual_seed(6)
    draws = RecordedNoise(torch.randn((2 * steps, *SHAPE), generator=stream).numpy())
    choice = ScheduleChoice(schedule, TRAINING, convention=ConventionName.DIFFUSERS)
    levels = scheduler_levels(sampler, choice, steps, strength)
    denoise = Denoiser(predict_noise, levels.training, PredictionType.EPSILON, 3.0)
    x = levels.start(noise.numpy(), None if strength is None else init.numpy())
    # The scheduler's own; pipelines pass 0.
    options = SamplerOptions(eta=0.3) if sampler is SamplerName.TCD else SamplerOptions()
    function = bind_options(sampler, options, ConventionName.DIFFUSERS)
    for step in function(denoise, x, levels.sigmas, draws):
        x = step.x
    # See `_timesteps_told`; noise is added to what differs.
    half_told = sampler is SamplerName.DPM2_ANCESTRAL and schedule is ScheduleName.KARRAS
    tolerance = 0.02 if half_told else 3e-5
    np.testing.assert_allclose(levels.finish(x), expected, rtol=0, atol=tolerance)


def their_run(scheduler, steps, noise, init, strength, stream) -> np.ndarray:
    """Run the scheduler as StableDiffusionPipeline and StableDiffusionImg2ImgPipeline do."""
    scheduler.set_timesteps(steps)
    timesteps = scheduler.timesteps
    if strength is None:
        x = noise * scheduler.init_noise_sigma
    else:
        begin = (steps - int(steps * strength)) * scheduler.order
        timesteps = timesteps[begin:]
        if hasattr(scheduler, "set_begin_index"):
            scheduler.set_begin_index(begin)
        x = scheduler.add_noise(init, noise, timesteps[:1])
    known = inspect.signature(scheduler.step).parameters
    passed = {"generator": stream} if "generator" in known else {}
    for timestep in timesteps:
        scaled = scheduler.scale_model_input(x, timestep)
        both = predict_noise(scaled.numpy(), np.float32(timestep), True)
        positive, negative = torch.from_numpy(both).chunk(2)
        guided = negative + 3.0 * (positive - negative)
        x = scheduler.step(guided, timestep, x, **passed).prev_sample
    return x.numpy()
