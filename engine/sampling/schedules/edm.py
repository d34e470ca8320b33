"""The levels of networks trained as in EDM: any level between two ends, and no timesteps."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.values import ConventionName
from engine.sampling.schedules.ramp import linspace
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas

_COUNT = 1000


class EdmLevels(msgspec.Struct, frozen=True):
    """The levels that a denoiser was trained for, and the deviation of its latents."""

    sigma_min: float
    sigma_max: float
    sigma_data: float


@dataclass(frozen=True, slots=True, eq=False)
class EdmSchedule(NoiseSchedule):
    """Levels evenly spaced in log sigma, for the schedules that count training levels.

    The network's time input is log(sigma) / 4 instead of a timestep: c_noise of Karras et al.
    (2022), table 1. ComfyUI `ModelSamplingContinuousEDM`, diffusers
    `EDMEulerScheduler.precondition_noise`.
    """

    has_timesteps: ClassVar[bool] = False

    @classmethod
    def between(
        cls, sigma_min: float, sigma_max: float, sigma_data: float, convention: ConventionName
    ) -> Self:
        """Build a thousand levels; `sigma_data` is the deviation of the latents in training."""
        logs = linspace(math.log(sigma_min), math.log(sigma_max), _COUNT)
        sigmas = np.exp(logs).astype(np.float64)
        return cls(1 / (1 + sigmas**2), convention, sigma_data)

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """Return the network's time input for a level."""
        return np.float32(np.float32(0.25) * np.log(sigma))

    def _level_below(self, share: float) -> float:
        low, high = math.log(self.sigma_min), math.log(self.sigma_max)
        return float(np.float32(math.exp((high - low) * (1.0 - share) + low)))

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """Return the levels of these time inputs."""
        return np.exp(timesteps / np.float32(0.25))
