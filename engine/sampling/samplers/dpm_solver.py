"""DPM-Solver's steps, shared by DPM fast and DPM adaptive.

DPM-Solver extrapolates the predicted noise, (x - denoised) / sigma, over a step; DPM-Solver++
extrapolates the picture instead.
"""

from collections.abc import Iterator

import msgspec
import numpy as np

from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.samplers.times import level_at, time_of
from engine.sampling.types import Denoise, Latent, Sigmas, Step, derivative

# Shares of a step at which the third-order solver evaluates the denoiser.
_FIRST_LOOK, _SECOND_LOOK = 1 / 3, 2 / 3


def time_range(sigmas: Sigmas) -> tuple[np.float32, np.float32]:
    """Return the times of a schedule's first level and of its last above 0, where the run ends.

    ComfyUI takes k-diffusion's `sigma_max` and `sigma_min` from a schedule like this
    (comfy/samplers.py), and so does A1111 to redraw a picture (sd_samplers_kdiffusion.py); for a
    picture from noise A1111 takes the ends of training, whatever the schedule. Both times are equal
    where fewer than two levels are above 0.
    """
    above = sigmas[sigmas > 0]
    return (time_of(above[0]), time_of(above[-1])) if len(above) else (sigmas[0], sigmas[0])


def to_picture(denoise: Denoise, x: Latent, sigmas: Sigmas) -> Iterator[Step]:
    """Yield the denoised picture, for a schedule with a single level above 0."""
    if len(sigmas) > 1:
        denoised = denoise(x, sigmas[0])
        yield Step(0, sigmas[0], denoised, denoised, done=1.0)


def renewal(
    time: np.float32, time_next: np.float32, end: np.float32, eta: float
) -> tuple[np.float32, np.float32]:
    """Split a step into the time to step down to and the deviation of the noise to add after it.

    The noise leads back to the level at `time_next`. The step is ancestral, but never passes `end`.
    """
    if eta == 0:
        return time_next, np.float32(0)
    down, _ = ancestral_step(level_at(time), level_at(time_next), eta)
    target = time_of(np.maximum(down, level_at(end)))
    variance = level_at(time_next) ** 2 - level_at(target) ** 2
    return target, np.sqrt(variance)


class Span(msgspec.Struct, frozen=True):
    """A step from x at one time to another, for solvers of several orders.

    `slope` is the noise predicted at its beginning. Lu et al. (2022), DPM-Solver, equation 4.1 and
    algorithms 1 and 2; k-diffusion `DPMSolver`.
    """

    denoise: Denoise
    x: Latent
    slope: Latent
    time: np.float32
    time_next: np.float32

    @property
    def length(self) -> np.float32:
        """The length of the step in time."""
        return self.time_next - self.time

    def first_order(self) -> Latent:
        """Step with the predicted noise held constant."""
        return self._held(self.time_next, self.length)

    def look(self, share: float = _FIRST_LOOK) -> Latent:
        """Return the noise predicted after a share of the step; one evaluation."""
        length = share * self.length
        return self._predicted(self._held(self.time + length, length), self.time + length)

    def second_order(self, noise_ahead: Latent, share: float) -> Latent:
        """Extrapolate with `noise_ahead`, the noise after that share of the step."""
        gain = level_at(self.time_next) * np.expm1(self.length) / (2 * share)
        return self.first_order() - gain * (noise_ahead - self.slope)

    def third_order(self, noise_ahead: Latent) -> Latent:
        """Extrapolate with the noise after a third of the step; one more evaluation."""
        length = _SECOND_LOOK * self.length
        time = self.time + length
        gain = level_at(time) * (_SECOND_LOOK / _FIRST_LOOK) * (np.expm1(length) / length - 1)
        ahead = self._held(time, length) - gain * (noise_ahead - self.slope)
        change = self._predicted(ahead, time) - self.slope
        gain = level_at(self.time_next) / _SECOND_LOOK * (np.expm1(self.length) / self.length - 1)
        return self.first_order() - gain * change

    def _held(self, time: np.float32, length: np.float32) -> Latent:
        return self.x - level_at(time) * np.expm1(length) * self.slope

    def _predicted(self, x: Latent, time: np.float32) -> Latent:
        level = level_at(time)
        return derivative(x, level, self.denoise(x, level))
