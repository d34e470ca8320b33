"""The noise levels that a network was trained on, as each tool computes them."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from engine.api.request import ScheduleOptions
from engine.api.values import ConventionName
from engine.sampling.predictions import network_scale
from engine.sampling.schedules.ramp import linspace
from engine.sampling.types import Latent, Sigmas

# The last product by which A1111 and ComfyUI replace 0, where the level would be infinite; and
# diffusers' own. Both leave at most a ten-thousandth of the picture's amplitude.
_TINY_PRODUCT = 4.8973451890853435e-08
_DIFFUSERS_TINY_PRODUCT = 2.0**-24
_LAST_TIMESTEP = 999.0
_TIMESTEPS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSchedule:
    """The noise levels of training: `sigmas[t]` is that of timestep t, rising, float32 [1000].

    `alphas[t]` is the product of 1 - beta up to t, the picture's share of the variance; float64 for
    ComfyUI, else float32. Arithmetic is that of the convention's tool; levels of two tools differ
    by a factor of up to 1 + 2e-5.
    """

    alphas: NDArray[np.floating[Any]]
    convention: ConventionName = ConventionName.A1111
    # True for a network trained by timesteps, each of a level; False for one trained by levels.
    has_timesteps: ClassVar[bool] = True
    # The standard deviation of the latents in training; the network's input has unit variance at
    # every level.
    sigma_data: float = 1.0
    sigmas: Sigmas = field(init=False)
    log_sigmas: NDArray[np.float32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sigmas = np.sqrt((1 - self.alphas) / self.alphas)
        object.__setattr__(self, "sigmas", sigmas.astype(np.float32))
        object.__setattr__(self, "log_sigmas", np.log(sigmas).astype(np.float32))

    @classmethod
    def scaled_linear(cls, convention: ConventionName = ConventionName.A1111) -> Self:
        """Build the levels of Stable Diffusion: variances linear in their square root.

        A1111 has the CompVis code's products: float64, rounded to float32 before the sigmas are
        taken (k-diffusion `CompVisDenoiser`). ComfyUI rounds only the sigmas (`ModelSampling
        Discrete`), diffusers the variances already (`EulerDiscreteScheduler`).
        """
        ends = math.sqrt(0.00085), math.sqrt(0.012)
        if convention in (ConventionName.DIFFUSERS, ConventionName.INVOKE):
            return cls(_products(1 - linspace(*ends, _TIMESTEPS) ** 2), convention)
        products = np.cumprod(1 - np.linspace(*ends, _TIMESTEPS) ** 2)
        comfy = convention is ConventionName.COMFY
        return cls(products if comfy else products.astype(np.float32), convention)

    def with_zero_terminal_snr(self) -> Self:
        """Return the levels stretched so that the last is all noise and the first is kept.

        Lin et al. (2023), algorithm 1: the roots of the products are shifted so that the last is 0,
        and scaled. That last one is then set a little above 0 (A1111
        `rescale_zero_terminal_snr_abar`, ComfyUI `rescale_zero_terminal_snr_sigmas`, diffusers
        `rescale_zero_terminal_snr`).
        """
        roots = np.sqrt(self.alphas)
        products = ((roots - roots[-1]) * (roots[0] / (roots[0] - roots[-1]))) ** 2
        if self.convention in (ConventionName.DIFFUSERS, ConventionName.INVOKE):
            # diffusers goes back to the variances and multiplies again, which rounds once more.
            betas = 1 - np.append(products[:1], products[1:] / products[:-1])
            products = _products(1 - betas)
            products[-1] = _DIFFUSERS_TINY_PRODUCT
        else:
            products[-1] = _TINY_PRODUCT
        return type(self)(products, self.convention)

    @property
    def sigma_min(self) -> np.float32:
        """The lowest level."""
        return self.sigmas[0]

    @property
    def sigma_max(self) -> np.float32:
        """The highest level."""
        return self.sigmas[-1]

    def ends(self, options: ScheduleOptions) -> tuple[float, float]:
        """Return the lowest and the highest level: those asked for, else those of training."""
        low, high = options.sigma_min, options.sigma_max
        return (
            float(self.sigma_min) if low is None else low,
            float(self.sigma_max) if high is None else high,
        )

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """Return the network's timestep for a level: its place among the training levels."""
        return self.sigma_to_place(sigma)

    def sigma_to_place(self, sigma: np.float32) -> np.float32:
        """Return a level's place among those of training, clipped at both ends.

        Fractional and linear in log sigma (k-diffusion `DiscreteSchedule.sigma_to_t` with
        quantize=False); for ComfyUI the nearest training level, by log sigma.
        """
        log_sigma = np.log(sigma)
        if self.convention is ConventionName.COMFY:
            return np.float32(np.abs(log_sigma - self.log_sigmas).argmin())
        below = np.count_nonzero(self.log_sigmas <= log_sigma) - 1
        low = min(max(below, 0), len(self.sigmas) - 2)
        gap = self.log_sigmas[low] - self.log_sigmas[low + 1]
        weight = np.clip((self.log_sigmas[low] - log_sigma) / gap, 0, 1)
        return np.float32((1 - weight) * np.float32(low) + weight * np.float32(low + 1))

    def handover_timestep(self, sigma: np.float32) -> np.float32:
        """Return a level's timestep or place, by which a run changes to another network."""
        return self.sigma_to_timestep(sigma) if self.has_timesteps else self.sigma_to_place(sigma)

    def level_at(self, share: float) -> float:
        """Return the level that has this share of the timesteps above it.

        It is infinite for 0 and 0 for 1: all of a run (ComfyUI `percent_to_sigma`).
        """
        if share <= 0:
            return math.inf
        return 0.0 if share >= 1 else self._level_below(share)

    def _level_below(self, share: float) -> float:
        timesteps = np.array([(1.0 - share) * _LAST_TIMESTEP], np.float32)
        return float(self.timestep_to_sigma(timesteps)[0])

    def network_input(self, x: Latent, sigma: np.float32) -> Latent:
        """Return the latents scaled to unit variance, as the network was trained on them."""
        return x * network_scale(sigma, self.sigma_data)

    def noised(self, picture: Latent, noise: Latent, sigma: np.float32) -> Latent:
        """Return a picture's latents with noise of this level."""
        return picture + noise * sigma

    def without_noise(self, picture: Latent, sigma: np.float32) -> Latent:
        """Return a picture's latents scaled so that the network sees them without noise."""
        return picture * np.sqrt(1 + sigma**2)

    def timestep_to_sigma(self, timesteps: NDArray[np.float32]) -> Sigmas:
        """Return the levels of fractional timesteps in [0, len(sigmas) - 1], linear in log sigma.

        k-diffusion `DiscreteSchedule.t_to_sigma`.
        """
        low = np.floor(timesteps)
        weight = timesteps - low
        log_low = self.log_sigmas[low.astype(np.int64)]
        log_high = self.log_sigmas[np.ceil(timesteps).astype(np.int64)]
        return np.exp((1 - weight) * log_low + weight * log_high)


def _products(factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `torch.cumprod` of float32, whose running product is in float64."""
    return np.cumprod(factors.astype(np.float64)).astype(np.float32)
