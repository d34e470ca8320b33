"""The levels of latent consistency models in A1111: every twentieth training level."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas

# Timesteps between levels; the first is one less: 19, 39, ..., 999.
_STRIDE = 20


@dataclass(frozen=True, slots=True, eq=False)
class DistilledSchedule(NoiseSchedule):
    """Replaces the training levels for A1111's LCM, in the denoiser and the schedules.

    The network is evaluated only at timesteps it was distilled at: any other level uses the nearest
    timestep, while its input is scaled for the level itself. Schedules begin and end at the first
    and last of these timesteps. A1111's `LCMCompVisDenoiser` also multiplies the picture by the
    paper's boundary scalings, which change it by less than 1e-5.
    """

    @classmethod
    def of(cls, training: NoiseSchedule) -> Self:
        """Take every twentieth training level."""
        return cls(training.alphas[_STRIDE - 1 :: _STRIDE], training.convention)

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """Return the nearest timestep, by log sigma."""
        place = np.abs(np.log(sigma) - self.log_sigmas).argmin()
        return np.float32(place * _STRIDE + _STRIDE - 1)

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """Return the levels of fractional timesteps, linear in log sigma, clipped at both ends."""
        places = (timesteps - np.float32(_STRIDE - 1)) / np.float32(_STRIDE)
        held = np.clip(places, np.float32(0), np.float32(len(self.sigmas) - 1))
        return NoiseSchedule.timestep_to_sigma(self, held)
