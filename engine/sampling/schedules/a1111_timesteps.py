"""The levels of A1111's samplers that work with timesteps: DDIM, DDIM CFG++, PLMS and UniPC.

They ignore the schedule. Their latents have unit variance, picture / sqrt(1 + sigma^2) + noise *
...; ours are sqrt(1 + sigma^2) times that. So pure noise starts with the factor sqrt(1 + sigma^2),
and the latents they end with, at a level a little above 0, are decoded without a further step. A
redrawn picture is noised to the level one above the first that is visited. `TimestepLevels` does
all three.

A1111 modules/sd_samplers_timesteps.py and sd_samplers_timesteps_impl.py.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import RedrawSteps
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.sampling.schedules.ramp import linspace
from engine.sampling.schedules.redraw import A1111Steps
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Latent, Sigmas

_TIMESTEPS = 1000


class TimestepLevels(msgspec.Struct, frozen=True):
    """The visited levels, float32, falling; a single level means that no step is taken.

    A picture to be redrawn is noised to the level `noised_to`.
    """

    sigmas: Sigmas
    noised_to: np.float32

    def start(self, noise: Latent, init: Latent | None) -> Latent:
        """Return the initial latents from standard normal noise and, if redrawn, a picture's."""
        first = np.sqrt(1 + self.sigmas[0] ** 2)
        if init is None:
            return noise * first
        return (init + noise * self.noised_to) * (first / np.sqrt(1 + self.noised_to**2))

    def finish(self, x: Latent) -> Latent:
        """Return the latents to decode from those of the sampler's end."""
        return x / np.sqrt(1 + self.sigmas[-1] ** 2)


def a1111_timestep_levels(
    steps: int,
    training: NoiseSchedule,
    strength: float | None = None,
    rule: RedrawSteps = RedrawSteps.A1111,
) -> TimestepLevels:
    """Return the levels of DDIM, DDIM CFG++ and PLMS: timesteps 1, 1 + 1000 // steps, ..., falling.

    There is one step less than asked for, or more where the steps do not divide 1000. With a
    strength, from 0 to 1, the levels that redraw a picture: the lowest timesteps, as many as
    `A1111Steps` says. Steps are from 1 to 1000; raises EngineError(REQUEST_INVALID) where the
    schedule that a strength asks for is longer.
    """
    if strength is None:
        timesteps = _timesteps(steps)
        # Above 500 steps A1111 has the highest timestep twice, which changes nothing.
        levels = training.sigmas[np.unique(timesteps)[::-1]]
        return TimestepLevels(levels, levels[0])
    timesteps, taken = _redrawn(steps, strength, rule)
    above = np.float32(training.sigmas[timesteps[taken]])
    if taken == 0:
        return TimestepLevels(np.array([above]), above)
    return TimestepLevels(training.sigmas[np.unique(timesteps[:taken])[::-1]], above)


def a1111_unipc_levels(
    steps: int,
    training: NoiseSchedule,
    strength: float | None = None,
    rule: RedrawSteps = RedrawSteps.A1111,
) -> TimestepLevels:
    """Return UniPC's levels: as many as DDIM's, evenly spaced in time from 999 to 0.

    Between timesteps the logarithm of the picture's share is linear (`NoiseScheduleVP`, with
    A1111's default of "time_uniform"). With a strength they begin at the highest timestep that
    `a1111_timestep_levels` takes; the arguments are the same.
    """
    if strength is None:
        sigmas = _evenly(len(_timesteps(steps)), np.float32(1), training)
        return TimestepLevels(sigmas, sigmas[0])
    timesteps, taken = _redrawn(steps, strength, rule)
    above = np.float32(training.sigmas[timesteps[taken]])
    if taken == 0:
        return TimestepLevels(np.array([above]), above)
    first = np.float32(timesteps[taken - 1]) / _TIMESTEPS + np.float32(1 / _TIMESTEPS)
    return TimestepLevels(_evenly(taken, first, training), above)


def _redrawn(steps: int, strength: float, rule: RedrawSteps) -> tuple[NDArray[np.int64], int]:
    """Return the timesteps of a redraw's schedule, and the place of the one it is noised to."""
    counted = A1111Steps.of(steps, strength, rule)
    if counted.scheduled > _TIMESTEPS:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The strength {strength:g} is too low for {steps} steps.",
                strength=strength,
                steps=steps,
            ),
            sentence("Take 0 to keep the picture, or fewer steps."),
        )
    return _timesteps(counted.scheduled), max(counted.taken, 0)


def _evenly(steps: int, first: np.float32, training: NoiseSchedule) -> Sigmas:
    """Return the levels from the time `first`, between 0.001 and 1, to time 0.001."""
    places = linspace(first, 1 / _TIMESTEPS, steps + 1).astype(np.float64) * _TIMESTEPS - 1
    log_alpha = np.log(training.alphas.astype(np.float64)) / 2
    share = np.exp(2 * np.interp(places, np.arange(len(log_alpha)), log_alpha))
    return np.sqrt((1 - share) / share).astype(np.float32)


def _timesteps(steps: int) -> NDArray[np.int64]:
    """Return the rising timesteps of A1111's `CompVisSampler.get_timesteps`."""
    return np.clip(np.arange(0, _TIMESTEPS, _TIMESTEPS // steps) + 1, 0, _TIMESTEPS - 1)
