"""Latents: how they relate to the numbers that the denoiser sees, and pictures as latents."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from backends.base import Array
from engine.families.hints import PreviewFactors
from engine.sampling.types import Latent


@dataclass(frozen=True, slots=True)
class LatentStatistics:
    """The mean and the deviation of each channel of what a VAE encodes to."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LatentFormat:
    """The relation of latents to the numbers the denoiser sees: scale * (latent - shift).

    With `statistics`: scale * (latent - mean) / deviation, channel by channel.
    """

    channels: int
    downscale: int
    scale: float
    shift: float = 0.0
    # None where nobody knows how to show a latent without decoding it.
    preview: PreviewFactors | None = None
    # The name of a space that families share; empty for one of its own.
    space: str = ""
    statistics: LatentStatistics | None = None

    def seen(self, latent: Array) -> Array:
        """The denoiser's numbers for a latent [batch, channels, height, width]."""
        return self.seen_change(latent - self._centre)

    def seen_change(self, change: Array) -> Array:
        """The denoiser's numbers for a difference, or a deviation, of latents."""
        return change * np.float32(self.scale) / self._deviation

    def latent(self, seen: Array) -> Array:
        """The latent of what the denoiser sees: float32."""
        whole = seen * self._deviation / np.float32(self.scale) + self._centre
        return whole.astype(np.float32, copy=False)

    @property
    def _centre(self) -> Array:
        return _by_channel(self.statistics.mean if self.statistics else (self.shift,))

    @property
    def _deviation(self) -> Array:
        return _by_channel(self.statistics.deviation if self.statistics else (1.0,))


def _by_channel(values: tuple[float, ...]) -> Array:
    return np.array(values, np.float32).reshape(1, -1, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedImage:
    """The distribution of a picture's latent as the denoiser sees it: float32 [1, C, H, W] each."""

    mean: Latent
    deviation: Latent
    # The mean as the VAE gives it.
    unscaled: Latent

    @classmethod
    def from_moments(cls, moments: Array, form: LatentFormat) -> Self:
        """Split moments [1, 2 * C, H, W]: means, logarithms of variances (`AutoencoderKL`)."""
        mean, log_variance = np.split(moments, 2, axis=1)
        deviation = np.exp(np.clip(log_variance, -30, 20) / 2)
        return cls(form.seen(mean), form.seen_change(deviation), mean)

    @classmethod
    def exactly(cls, latent: Latent, form: LatentFormat) -> Self:
        """Take the one latent of a VAE without a distribution (`AutoencoderTiny`)."""
        return cls(form.seen(latent), np.zeros_like(latent), latent)
