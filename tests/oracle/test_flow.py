"""Rectified flow beside diffusers' FlowMatchEulerDiscreteScheduler."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import math

import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.values import ConventionName, PredictionType, SamplerName, ScheduleName
from engine.sampling.denoiser import Denoiser
from engine.sampling.noise_model import RectifiedFlow, SizeShift
from engine.sampling.plan import plan_sampling
from tests.sampling.test_flow import NOISE, asked, velocity

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

STEPS = 20


@pytest.mark.parametrize("side", [256, 512, 1024])
def test_steps_with_a_shift_by_size(side: int) -> None:
    """Flux's pipeline has evenly spaced times, moved by the shift of so many tokens."""
    request = asked(
        width=side,
        height=side,
        steps=STEPS,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
    )
    plan = plan_sampling(request, RectifiedFlow(SizeShift()), redraws=False)
    theirs = diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
    mu = math.log(SizeShift()(request))
    theirs.set_timesteps(sigmas=np.linspace(1.0, 1 / STEPS, STEPS), mu=mu)
    np.testing.assert_allclose(plan.sigmas, theirs.sigmas.numpy(), rtol=0, atol=2e-7)
    denoise = Denoiser(velocity, plan.training, PredictionType.FLOW, guidance=1.0)
    steps = plan.sampler(
        denoise, plan.start(NOISE, None), plan.sigmas, lambda sigma, sigma_next: NOISE
    )
    x = torch.from_numpy(NOISE)
    for step, timestep in zip(steps, theirs.timesteps, strict=True):
        predicted = torch.from_numpy(velocity(x.numpy(), np.float32(timestep), False))
        x = theirs.step(predicted, timestep, x).prev_sample
        np.testing.assert_allclose(step.x, x.numpy(), rtol=0, atol=1e-5)


def test_noise_is_added_at_a_level() -> None:
    plan = plan_sampling(asked(steps=STEPS), RectifiedFlow(3.0), redraws=False)
    theirs = diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0)
    theirs.set_timesteps(sigmas=np.linspace(1.0, 1 / STEPS, STEPS))
    picture = torch.full(NOISE.shape, 2.0)
    for place in (3, 11):
        noisy = theirs.scale_noise(
            picture, theirs.timesteps[place : place + 1], torch.from_numpy(NOISE)
        )
        ours = plan.training.noised(picture.numpy(), NOISE, plan.sigmas[place])
        np.testing.assert_allclose(ours, noisy.numpy(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("steps", [4, 7, 28])
@pytest.mark.parametrize("strength", [0.29, 0.6, 1.0])
def test_a_redrawn_picture_takes_the_levels_of_diffusers(steps: int, strength: float) -> None:
    """The number of steps need not divide a thousand levels."""
    request = asked(
        convention=CONVENTIONS[ConventionName.DIFFUSERS],
        width=640,
        height=512,
        steps=steps,
        strength=strength,
    )
    plan = plan_sampling(request, RectifiedFlow(SizeShift()), redraws=True)
    theirs = diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
    pipeline = diffusers.FluxImg2ImgPipeline(theirs, *[None] * 6)
    mu = math.log(SizeShift()(request))
    theirs.set_timesteps(sigmas=np.linspace(1.0, 1 / steps, steps), mu=mu)
    timesteps, count = pipeline.get_timesteps(steps, strength, "cpu")
    taken = theirs.sigmas.numpy()[-1 - count :]
    assert len(timesteps) == count
    np.testing.assert_allclose(plan.sigmas, taken, rtol=0, atol=2e-7)
