"""The levels of latent consistency models as A1111 sees them: every twentieth that was trained."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas

# Timesteps from one level to the next, and the first of them one less: 19, 39, ..., 999.
_STRIDE = 20


@dataclass(frozen=True, slots=True, eq=False)
class DistilledSchedule(NoiseSchedule):
    """Takes the place of the training levels for A1111's LCM, in the denoiser and the schedules.

    The network is asked only about timesteps it was distilled at: of any other level the nearest,
    though its input is scaled for the level itself. Schedules begin and end at the first and last
    of them. A1111 `LCMCompVisDenoiser`, which multiplies the picture by the paper's boundary
    scalings as well; they change it by less than 1e-5.
    """

    @classmethod
    def of(cls, training: NoiseSchedule) -> Self:
        """Every twentieth of all levels of training."""
        return cls(training.alphas[_STRIDE - 1 :: _STRIDE], training.convention)

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """The nearest timestep, by log sigma."""
        place = np.abs(np.log(sigma) - self.log_sigmas).argmin()
        return np.float32(place * _STRIDE + _STRIDE - 1)

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """The levels of fractional timesteps, linear in log sigma and held at both ends."""
        places = (timesteps - np.float32(_STRIDE - 1)) / np.float32(_STRIDE)
        held = np.clip(places, np.float32(0), np.float32(len(self.sigmas) - 1))
        return NoiseSchedule.timestep_to_sigma(self, held)
