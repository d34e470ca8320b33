"""Noise levels: those a network was trained on, and those a sampler visits.

A schedule is a function from a number of steps and the training levels to float32 [steps + 1],
falling from the highest level to 0. Definitions are A1111's (modules/sd_schedulers.py), which are
ComfyUI's (comfy/samplers.py) except where a docstring says so. Arithmetic is float32 where theirs
is: pictures repeat to the last bits only then.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.api.values import ErrorCode, ScheduleName
from engine.errors import EngineError
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.types import Sigmas


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSchedule:
    """The noise levels of training: `sigmas[t]` is that of timestep t, rising, float32 [1000]."""

    sigmas: NDArray[np.float32]
    log_sigmas: NDArray[np.float32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "log_sigmas", np.log(self.sigmas))

    @classmethod
    def scaled_linear(
        cls, start: float = 0.00085, end: float = 0.012, timesteps: int = 1000
    ) -> Self:
        """Build the levels of Stable Diffusion: variances linear in their square root.

        As in the CompVis code, the products are float64 and are rounded to float32 before the
        sigmas are taken (k-diffusion `CompVisDenoiser`). That moves the lowest by 2e-5 of itself.
        """
        betas = np.linspace(math.sqrt(start), math.sqrt(end), timesteps) ** 2
        alphas = np.cumprod(1 - betas).astype(np.float32)
        return cls(np.sqrt((1 - alphas) / alphas))

    @property
    def sigma_min(self) -> np.float32:
        """The lowest level."""
        return self.sigmas[0]

    @property
    def sigma_max(self) -> np.float32:
        """The highest level."""
        return self.sigmas[-1]

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """The fractional timestep of a level, linear in log sigma and held at both ends.

        k-diffusion `DiscreteSchedule.sigma_to_t` with quantize=False.
        """
        log_sigma = np.log(sigma)
        below = np.count_nonzero(self.log_sigmas <= log_sigma) - 1
        low = min(max(below, 0), len(self.sigmas) - 2)
        gap = self.log_sigmas[low] - self.log_sigmas[low + 1]
        weight = np.clip((self.log_sigmas[low] - log_sigma) / gap, 0, 1)
        return np.float32((1 - weight) * np.float32(low) + weight * np.float32(low + 1))

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """The levels of fractional timesteps in [0, len(sigmas) - 1], linear in log sigma.

        k-diffusion `DiscreteSchedule.t_to_sigma`.
        """
        low = np.floor(timesteps)
        weight = timesteps - low
        log_low = self.log_sigmas[low.astype(np.int64)]
        log_high = self.log_sigmas[np.ceil(timesteps).astype(np.int64)]
        return np.exp((1 - weight) * log_low + weight * log_high)


Schedule = Callable[[int, NoiseSchedule], Sigmas]


def normal(steps: int, training: NoiseSchedule) -> Sigmas:
    """Timesteps evenly spaced, both ends included. A1111 `normal_scheduler`."""
    start = training.sigma_to_timestep(training.sigma_max)
    end = training.sigma_to_timestep(training.sigma_min)
    return _with_zero(training.timestep_to_sigma(_linspace(start, end, steps)))


def karras(steps: int, training: NoiseSchedule, rho: float = 7.0) -> Sigmas:
    """Sigmas evenly spaced in sigma^(1/rho): dense where noise is low.

    Karras et al. (2022), equation 5; k-diffusion `get_sigmas_karras`.
    """
    ramp = _linspace(np.float32(0), np.float32(1), steps)
    low = float(training.sigma_min) ** (1 / rho)
    high = float(training.sigma_max) ** (1 / rho)
    return _with_zero((high + ramp * (low - high)) ** rho)


def simple(steps: int, training: NoiseSchedule) -> Sigmas:
    """Every (1000 / steps)-th training level from the highest down. A1111 `simple_scheduler`."""
    stride = len(training.sigmas) / steps
    return _with_zero(training.sigmas[[-1 - int(step * stride) for step in range(steps)]])


def sgm_uniform(steps: int, training: NoiseSchedule) -> Sigmas:
    """Timesteps evenly spaced without the lowest, as in Stability's generative-models.

    A1111 `sgm_uniform`.
    """
    start = training.sigma_to_timestep(training.sigma_max)
    end = training.sigma_to_timestep(training.sigma_min)
    return _with_zero(training.timestep_to_sigma(_linspace(start, end, steps + 1)[:-1]))


def beta(steps: int, training: NoiseSchedule, shape: float = 0.6) -> Sigmas:
    """Levels at the quantiles of a beta distribution: dense at both ends.

    Lee et al. (2024), "Beta Sampling is All You Need", alpha = beta = 0.6. A1111 `beta_scheduler`
    and diffusers apply the quantiles to sigma; ComfyUI applies them to the timestep, without the
    last, and rounds.
    """
    quantiles = beta_quantile(1 - np.linspace(0, 1, steps), shape, shape)
    low, high = float(training.sigma_min), float(training.sigma_max)
    return _with_zero((low + quantiles * (high - low)).astype(np.float32))


SCHEDULES: Mapping[ScheduleName, Schedule] = {
    ScheduleName.NORMAL: normal,
    ScheduleName.KARRAS: karras,
    ScheduleName.SIMPLE: simple,
    ScheduleName.SGM_UNIFORM: sgm_uniform,
    ScheduleName.BETA: beta,
}


def sigmas_for(name: ScheduleName, steps: int, training: NoiseSchedule) -> Sigmas:
    """The levels that a picture from noise visits: float32 [steps + 1], strictly falling to 0.

    Raises EngineError REQUEST_INVALID unless steps is between 1 and the number of training levels:
    beyond that, schedules would visit a level twice.
    """
    if not 1 <= steps <= len(training.sigmas):
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"The number of steps must be between 1 and {len(training.sigmas)}, not {steps}.",
            "20 to 30 steps are enough for most pictures.",
        )
    return SCHEDULES[name](steps, training)


def img2img_sigmas(sigmas: Sigmas, strength: float) -> Sigmas:
    """The end of a schedule that redraws a picture by `strength`, from 0 to 1.

    A1111 (`setup_img2img_steps`): int(min(strength, 0.999) * steps) + 1 steps are taken. So 1 takes
    the whole schedule, and 0 the last step alone, which the eye does not see. Raises EngineError
    REQUEST_INVALID for a strength outside [0, 1].
    """
    if not 0 <= strength <= 1:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"The strength must be between 0 and 1, not {strength}.",
            "0 keeps the picture, 1 redraws all of it.",
        )
    steps = len(sigmas) - 1
    skipped = steps - 1 - int(min(strength, 0.999) * steps)
    return sigmas[skipped:]


def _with_zero(sigmas: NDArray[np.float32]) -> Sigmas:
    return np.append(sigmas, np.float32(0))


def _linspace(start: np.float32, end: np.float32, count: int) -> NDArray[np.float32]:
    """`torch.linspace` in float32: from both ends to the middle, which rounds unlike NumPy's."""
    if count == 1:
        return np.array([start])
    step = (end - start) / np.float32(count - 1)
    index = np.arange(count, dtype=np.float32)
    return np.where(index < count // 2, start + step * index, end - step * (count - 1 - index))
