"""The scaling between a VAE's latents and the denoiser's input, and pictures encoded as latents."""

from typing import Self

import msgspec
import numpy as np

from backends.base import Array
from engine.families.hints import PreviewFactors
from engine.sampling.types import Latent


class LatentStatistics(msgspec.Struct, frozen=True):
    """The mean and the standard deviation of each channel of a VAE's latents."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]


class LatentFormat(msgspec.Struct, frozen=True):
    """The format of latents: the denoiser sees scale * (latent - shift).

    With `statistics` the denoiser sees scale * (latent - mean) / deviation, channel by channel.
    `downscale` is the number of pixels along the side of a latent cell.
    """

    channels: int
    downscale: int
    scale: float
    shift: float = 0.0
    # The linear preview; None where none is known for this latent space.
    preview: PreviewFactors | None = None
    # The name of the latent space if it is a shared one; empty for a checkpoint's own space.
    space: str = ""
    statistics: LatentStatistics | None = None

    def scaled(self, latent: Array) -> Array:
        """Scale a VAE's latent [batch, channels, height, width] to the denoiser's input."""
        return self.scaled_change(latent - self._centre)

    def scaled_change(self, change: Array) -> Array:
        """Scale a difference or a standard deviation of latents, without the shift."""
        return change * np.float32(self.scale) / self._deviation

    def unscaled(self, latent: Array) -> Array:
        """Return the VAE's latent for a scaled latent, the inverse of `scaled`: float32."""
        whole = latent * self._deviation / np.float32(self.scale) + self._centre
        return whole.astype(np.float32, copy=False)

    @property
    def _centre(self) -> Array:
        return _by_channel(self.statistics.mean if self.statistics else (self.shift,))

    @property
    def _deviation(self) -> Array:
        return _by_channel(self.statistics.deviation if self.statistics else (1.0,))


def _by_channel(values: tuple[float, ...]) -> Array:
    return np.array(values, np.float32).reshape(1, -1, 1, 1)


class EncodedImage(msgspec.Struct, frozen=True, eq=False):
    """The normal distribution of a picture's latent, scaled for the denoiser.

    All arrays are float32 [1, C, H, W]. A latent without a `deviation` is exactly the mean.
    """

    mean: Latent
    deviation: Latent | None
    # The mean in the VAE's own scale.
    unscaled: Latent

    @classmethod
    def from_moments(cls, moments: Array, form: LatentFormat) -> Self:
        """Build from a VAE's moments [1, 2 * C, H, W]: means, log variances (`AutoencoderKL`)."""
        mean, log_variance = np.split(moments, 2, axis=1)
        deviation = np.exp(np.clip(log_variance, -30, 20) / 2)
        return cls(form.scaled(mean), form.scaled_change(deviation), mean)

    @classmethod
    def exactly(cls, latent: Latent, form: LatentFormat) -> Self:
        """Build from the latent of a VAE without a distribution (`AutoencoderTiny`)."""
        return cls(form.scaled(latent), None, latent)
