"""Masked sampling: the white part of a mask is painted, and the black part is kept."""

from enum import Enum, auto

import msgspec
import numpy as np

from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import GuidedDenoise, Latent


class Keeping(Enum):
    """The ways in which tools keep the black part of a mask."""

    # The kept latent replaces the denoiser's picture: A1111 `CFGDenoiser.forward`, and
    # `apply_blend` afterwards.
    PICTURE = auto()
    # The denoiser's input has the kept latent, scaled to the level and without noise; the noise it
    # predicts is used with the unchanged latents: A1111's samplers by timesteps
    # (`mask_before_denoising`).
    SHOWN = auto()
    # The denoiser's input has the kept latent with noise, and the kept latent replaces the
    # denoiser's picture: ComfyUI `KSamplerX0Inpaint`.
    SHOWN_AND_PICTURE = auto()
    # The denoiser's input has the kept latent with noise at every level below the first: diffusers'
    # `StableDiffusionInpaintPipeline`, which inserts it after each step. The sampler's own result
    # in the kept part has no effect, since each cell is either kept or painted.
    SHOWN_LATER = auto()


class Kept(msgspec.Struct, frozen=True, eq=False):
    """A latent [1, C, H, W], kept where the mask [1, 1, H, W] is not 1, and the initial noise.

    `highest` is the first level of the sampler.
    """

    latent: Latent
    mask: Latent
    noise: Latent
    highest: np.float32

    def blend(self, painted: Latent, kept: Latent) -> Latent:
        """Return `painted` inside the mask and `kept` outside."""
        return (painted * self.mask + kept * (1 - self.mask)).astype(np.float32, copy=False)


class MaskedDenoise(msgspec.Struct, frozen=True, eq=False):
    """A `GuidedDenoise` that leaves the kept part unchanged."""

    inner: GuidedDenoise
    kept: Kept
    keeping: Keeping
    schedule: NoiseSchedule

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Return the picture in x at a level sigma > 0: float32 [1, C, H, W]."""
        shown = self._shown(x, sigma)
        return self._said(self.inner(shown, sigma), x, shown)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """Return the guided picture and the one under the negative prompt, which is not blended."""
        shown = self._shown(x, sigma)
        guided, negative = self.inner.pair(shown, sigma)
        if self.keeping is Keeping.SHOWN:
            negative = negative + (x - shown)
        return self._said(guided, x, shown), negative

    def _shown(self, x: Latent, sigma: np.float32) -> Latent:
        kept = self.kept
        match self.keeping:
            case Keeping.PICTURE:
                return x
            case Keeping.SHOWN:
                return kept.blend(x, self.schedule.without_noise(kept.latent, sigma))
            case Keeping.SHOWN_LATER if sigma >= kept.highest:
                return x
            case Keeping.SHOWN_LATER | Keeping.SHOWN_AND_PICTURE:
                return kept.blend(x, self.schedule.noised(kept.latent, kept.noise, sigma))

    def _said(self, denoised: Latent, x: Latent, shown: Latent) -> Latent:
        match self.keeping:
            case Keeping.PICTURE | Keeping.SHOWN_AND_PICTURE:
                return self.kept.blend(denoised, self.kept.latent)
            case Keeping.SHOWN:
                return denoised + (x - shown)
            case Keeping.SHOWN_LATER:
                return denoised
