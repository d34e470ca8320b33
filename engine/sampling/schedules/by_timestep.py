"""Schedules that space the timesteps of training.

Each takes the number of steps, the training levels and the options of the request, and returns
float32 levels that fall to 0.
"""

import numpy as np

from engine.api.request import ScheduleOptions
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.schedules.flow import FlowSchedule
from engine.sampling.schedules.ramp import linspace, with_zero
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas


def normal(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps evenly spaced, both ends included. A1111, ComfyUI `normal_scheduler`."""
    start, end = _timesteps(training, options)
    return with_zero(training.timestep_to_sigma(linspace(start, end, steps)))


def uniform(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps evenly spaced over all of training. k-diffusion `DiscreteSchedule.get_sigmas`.

    Equals `normal` without moved ends; A1111 has both names.
    """
    return normal(steps, training, ScheduleOptions())


def simple(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Every (1000 / steps)-th level from the highest down. A1111, ComfyUI `simple_scheduler`."""
    stride = len(training.sigmas) / steps
    return with_zero(training.sigmas[[-1 - int(step * stride) for step in range(steps)]])


def evenly_timed(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Times of a flow from 1 down to 1 / steps, evenly spaced; `simple` for other training levels.

    diffusers' pipelines of flow models (`np.linspace(1.0, 1 / steps, steps)`), InvokeAI
    `get_schedule`. That of SD 3 leaves the times to `FlowMatchEulerDiscreteScheduler`, whose last
    one is the lowest level.
    """
    if not isinstance(training, FlowSchedule):
        return simple(steps, training, options)
    last = float(training.sigmas[0]) if training.ends_lowest else 1 / steps
    times = 1000 * np.linspace(1, last, steps)
    return with_zero(training.timestep_to_sigma(times.astype(np.float32)))


def sgm_uniform(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps evenly spaced without the lowest, as in Stability's generative-models.

    A1111 `sgm_uniform`, ComfyUI `normal_scheduler` with sgm=True.
    """
    start, end = _timesteps(training, options)
    return with_zero(training.timestep_to_sigma(linspace(start, end, steps + 1)[:-1]))


def ddim(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Every (1000 // steps)-th level, counted up from timestep 1. A1111, ComfyUI `ddim_scheduler`.

    Where the steps do not divide 1000 there are more levels than steps were asked for, and the
    tools take them all; above 500 steps always 999. The highest is left out.
    """
    stride = max(len(training.sigmas) // steps, 1)
    return with_zero(training.sigmas[1::stride][::-1])


def beta_rounded(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps at the quantiles of a beta distribution, rounded. ComfyUI `beta_scheduler`.

    Equal timesteps are visited once, so there may be fewer steps than asked for.
    """
    quantiles = beta_quantile(1 - np.linspace(0, 1, steps, endpoint=False), 0.6, 0.6)
    # The median lies between two timesteps; the error of the quantile must not decide.
    places = np.round(quantiles * (len(training.sigmas) - 1), 9)
    timesteps = np.rint(places).astype(np.int64)
    first = np.append(True, np.diff(timesteps) != 0)
    return with_zero(training.sigmas[timesteps[first]])


def linspace_spaced(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps evenly spaced, both ends included; levels between them linear in sigma.

    diffusers `EulerDiscreteScheduler` with timestep_spacing="linspace".
    """
    last = len(training.sigmas) - 1
    timesteps = np.linspace(0, last, steps, dtype=np.float32)[::-1]
    return with_zero(np.interp(timesteps, np.arange(last + 1), training.sigmas))


def trailing(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Timesteps evenly spaced without the lowest, rounded.

    diffusers' timestep_spacing="trailing".
    """
    count = len(training.sigmas)
    timesteps = np.round(np.arange(count, 0, -count / steps))[:steps].astype(np.int64) - 1
    return with_zero(training.sigmas[timesteps])


def leading(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Every (1000 // steps)-th level, counted up from timestep 1, `steps` of them.

    diffusers' timestep_spacing="leading" with Stable Diffusion's steps_offset of 1.
    """
    stride = len(training.sigmas) // steps
    timesteps = np.minimum(np.arange(steps) * stride + 1, len(training.sigmas) - 1)
    return with_zero(training.sigmas[timesteps[::-1]])


def _timesteps(training: NoiseSchedule, options: ScheduleOptions) -> tuple[np.float32, np.float32]:
    """Return the timesteps of the highest and of the lowest level."""
    low, high = training.ends(options)
    return training.sigma_to_timestep(np.float32(high)), training.sigma_to_timestep(np.float32(low))
