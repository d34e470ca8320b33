"""Samplers that diffusers has as well, beside its schedulers, step by step."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from engine.sampling.samplers.ddim import ddim
from engine.sampling.samplers.ddpm import ddpm
from engine.sampling.samplers.deis import DeisTime, deis
from engine.sampling.samplers.plms import plms
from engine.sampling.samplers.tcd import tcd
from engine.sampling.samplers.unipc import UniPcVariant, unipc
from engine.sampling.types import Sampler
from tests.sampling.toy import SHAPE, RecordedNoise, mixture_denoise

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

TRAINED = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
# Of Stable Diffusion's scheduler_config.json.
SPACED = {"clip_sample": False, "set_alpha_to_one": False, "steps_offset": 1}


@dataclass(frozen=True, slots=True)
class Reference:
    """Our sampler beside a scheduler: the largest difference of a value of x after any step.

    As a share of sigma, or of 1 where sigma is less: that is how large x is.
    """

    ours: Sampler
    theirs: str
    options: dict[str, Any] = field(default_factory=dict)
    # Passed to each step.
    step_options: dict[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-5


_ENDS = {"final_sigmas_type": "sigma_min"}
_OFFSET = {"clip_sample": False, "steps_offset": 1}
_PLMS = {"skip_prk_steps": True, "set_alpha_to_one": False, "steps_offset": 1}
_LOG_DEIS = partial(deis, time=DeisTime.LOG_SIGMA, lower_order_final=True)
_ALWAYS = {"lower_order_final": False}
_BH2 = partial(unipc, order=2, variant=UniPcVariant.BH2)
REFERENCES = {
    "ddim": Reference(ddim, "DDIMScheduler", SPACED),
    "ddim/half": Reference(partial(ddim, eta=0.5), "DDIMScheduler", SPACED, {"eta": 0.5}),
    "ddpm": Reference(ddpm, "DDPMScheduler", _OFFSET),
    "plms": Reference(plms, "PNDMScheduler", _PLMS),
    "deis": Reference(partial(_LOG_DEIS, order=2), "DEISMultistepScheduler"),
    "deis/karras": Reference(
        partial(_LOG_DEIS, order=2), "DEISMultistepScheduler", {"use_karras_sigmas": True}
    ),
    "deis/third_order": Reference(
        # Theirs takes differences of large numbers in float32.
        _LOG_DEIS,
        "DEISMultistepScheduler",
        {"solver_order": 3},
        tolerance=1e-4,
    ),
    "deis/always": Reference(
        partial(deis, time=DeisTime.LOG_SIGMA),
        "DEISMultistepScheduler",
        {"solver_order": 3, **_ALWAYS},
        tolerance=1e-4,
    ),
    "unipc": Reference(_BH2, "UniPCMultistepScheduler"),
    "unipc/karras": Reference(_BH2, "UniPCMultistepScheduler", {"use_karras_sigmas": True}),
    "unipc/first_order": Reference(
        partial(_BH2, order=1), "UniPCMultistepScheduler", {"solver_order": 1}
    ),
    "unipc/third_order": Reference(
        partial(_BH2, order=3), "UniPCMultistepScheduler", {"solver_order": 3}
    ),
    "unipc/bh1": Reference(
        unipc,
        "UniPCMultistepScheduler",
        {"solver_order": 3, "solver_type": "bh1", **_ENDS},
    ),
    "unipc/always": Reference(
        partial(_BH2, lower_order_final=False), "UniPCMultistepScheduler", {**_ALWAYS, **_ENDS}
    ),
    "tcd": Reference(tcd, "TCDScheduler", {}, {"eta": 0.3}),
    "tcd/all": Reference(partial(tcd, eta=1.0), "TCDScheduler", {}, {"eta": 1.0}),
    "tcd/none": Reference(partial(tcd, eta=0.0), "TCDScheduler", {}, {"eta": 0.0}),
}

# A single step of PLMS is Heun's in A1111 and here, and Euler's in diffusers.
CASES = [
    (name, steps)
    for name in REFERENCES
    for steps in (1, 2, 4, 12, 20)
    if (name, steps) != ("plms", 1)
]


@pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")
@pytest.mark.parametrize(("name", "steps"), CASES)
def test_samplers_follow_diffusers_step_by_step(name: str, steps: int):
    reference = REFERENCES[name]
    scheduler = getattr(diffusers, reference.theirs)(**TRAINED, **reference.options)
    scheduler.set_timesteps(steps)
    sigmas = levels(scheduler)
    start = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)) * sigmas[0]
    theirs = trajectory(scheduler, sigmas, start, reference.step_options)
    torch.manual_seed(9)
    noise = RecordedNoise(np.stack([torch.randn(SHAPE).numpy() for _ in range(steps)]))
    ours = list(reference.ours(mixture_denoise, start.numpy(), sigmas, noise))
    for step, expected in zip(ours, theirs, strict=True):
        assert step.x.dtype == np.float32
        scale = max(1.0, float(sigmas[step.index + 1]))
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=reference.tolerance * scale)


def levels(scheduler) -> np.ndarray:
    """The levels a scheduler visits, and the one it ends at."""
    if hasattr(scheduler, "sigmas"):
        return scheduler.sigmas.numpy()
    timesteps = torch.unique(scheduler.timesteps).flip(0)
    stride = 1000 // scheduler.num_inference_steps
    alphas = scheduler.alphas_cumprod[timesteps]
    if isinstance(scheduler, diffusers.DDPMScheduler):
        end = torch.tensor(1.0)
    elif isinstance(scheduler, diffusers.TCDScheduler):
        end = scheduler.alphas_cumprod[0]
    else:
        assert timesteps[-1] < stride
        end = scheduler.final_alpha_cumprod
    products = torch.cat([alphas, end[None]])
    return ((1 - products) / products).sqrt().numpy()


def trajectory(scheduler, sigmas, x, options) -> list[np.ndarray]:
    """Samples after each step, in variance-exploding form."""
    torch.manual_seed(9)
    scales = np.sqrt(1 + sigmas**2)
    # PLMS visits its second level twice, once to improve the first step.
    improves = isinstance(scheduler, diffusers.PNDMScheduler) and len(sigmas) > 2
    places = [0, 1, *range(1, len(sigmas) - 1)] if improves else range(len(sigmas) - 1)
    sample = x / scales[0]
    samples = []
    for place, timestep in zip(places, scheduler.timesteps, strict=True):
        noisy = sample * scales[place]
        output = (noisy - mixture_denoise(noisy, sigmas[place], torch.tanh)) / sigmas[place]
        sample = scheduler.step(output, timestep, sample, **options).prev_sample
        samples.append(sample.numpy())
    if improves:
        del samples[0]
    return [sample * scale for sample, scale in zip(samples, scales[1:], strict=True)]
