"""The levels of rectified flow: straight paths from pictures to noise (Liu et al. 2022)."""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from engine.api.values import ConventionName
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Latent, Sigmas

# The number by which a level is multiplied in place of a timestep.
_THOUSAND = 1000


def shifted(times: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Return times in [0, 1] shifted towards noise, of which larger pictures need more.

    Esser et al. (2024), equation 23; ComfyUI `time_snr_shift`, diffusers `time_shift` with the
    logarithm of the shift.
    """
    return shift * times / (1 + (shift - 1) * times)


@dataclass(frozen=True, slots=True, eq=False)
class FlowSchedule(NoiseSchedule):
    """Levels t in (0, 1] of x = (1 - t) * picture + t * noise, a thousand or as a tool counts.

    The network sees x as it is, and t times 1000 in place of a timestep. Samplers need no change:
    noise - picture, the derivative of x by t, is (x - picture) / t. ComfyUI `ModelSamplingDiscrete
    Flow` with `CONST`, diffusers `FlowMatchEulerDiscreteScheduler`.
    """

    has_timesteps: ClassVar[bool] = False
    shift: float = field(default=1.0, kw_only=True)
    # True where evenly spaced times end at the lowest level, which the shift then moves once more;
    # False: at one step's length.
    ends_lowest: bool = field(default=False, kw_only=True)

    @classmethod
    def of(
        cls,
        shift: float,
        convention: ConventionName,
        count: int = _THOUSAND,
        *,
        ends_lowest: bool = False,
    ) -> Self:
        """Build `count` levels from evenly spaced times, which `shift` moves."""
        levels = _levels(shift, count)
        variances = (1 - levels) ** 2, levels**2
        alphas = variances[0] / (variances[0] + variances[1])
        return cls(alphas, convention, shift=shift, ends_lowest=ends_lowest)

    def __post_init__(self) -> None:
        levels = _levels(self.shift, len(self.alphas))
        object.__setattr__(self, "sigmas", levels.astype(np.float32))
        object.__setattr__(self, "log_sigmas", np.log(levels).astype(np.float32))

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """Return the timestep that the network takes for a level."""
        return np.float32(sigma * np.float32(_THOUSAND))

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """Return the levels of times, in thousandths, before the shift."""
        times = timesteps.astype(np.float64) / _THOUSAND
        return shifted(times, self.shift).astype(np.float32)

    def _level_below(self, share: float) -> float:
        return float(np.float32(shifted(np.array(1.0 - share), self.shift)))

    def network_input(self, x: Latent, sigma: np.float32) -> Latent:
        """Return the latents unchanged."""
        return x

    def noised(self, picture: Latent, noise: Latent, sigma: np.float32) -> Latent:
        """Return a picture's latents with noise of this level."""
        return (1 - sigma) * picture + sigma * noise

    def without_noise(self, picture: Latent, sigma: np.float32) -> Latent:
        """Return a picture's latents scaled by the picture's share at this level."""
        return (1 - sigma) * picture


def _levels(shift: float, count: int) -> NDArray[np.float64]:
    return shifted(np.arange(1, count + 1) / count, shift)
