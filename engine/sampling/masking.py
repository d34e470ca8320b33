"""What a mask keeps, while a sampler paints the rest."""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import GuidedDenoise, Latent


class Keeping(Enum):
    """How the kept part stays as it is, in which tool."""

    # It replaces the denoiser's picture: A1111 `CFGDenoiser.forward`, `apply_blend` afterwards.
    PICTURE = auto()
    # The denoiser is shown it, scaled to the level and without noise, and what it says of noise
    # holds for the latents as they are: A1111's samplers by timesteps (`mask_before_denoising`).
    SHOWN = auto()
    # The denoiser is shown it under noise, and it replaces the denoiser's picture: ComfyUI
    # `KSamplerX0Inpaint`.
    SHOWN_AND_PICTURE = auto()
    # The denoiser is shown it under noise at every level below the first: diffusers'
    # `StableDiffusionInpaintPipeline`, which puts it there after each step. What samplers make of
    # the kept part in between is never looked at, for cells are kept or painted, nothing between.
    SHOWN_LATER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A latent [1, C, H, W] of which a mask [1, 1, H, W] keeps what is not 1; `noise` is the first.

    `highest` is the level that the sampler begins at.
    """

    latent: Latent
    mask: Latent
    noise: Latent
    highest: np.float32

    def blend(self, painted: Latent, kept: Latent) -> Latent:
        """What is painted inside the mask, and what is kept outside."""
        return (painted * self.mask + kept * (1 - self.mask)).astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedDenoise:
    """A `GuidedDenoise` that leaves what is kept as it is."""

    inner: GuidedDenoise
    kept: Kept
    keeping: Keeping
    schedule: NoiseSchedule

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """The picture in x at a level sigma > 0: float32 [1, C, H, W]."""
        shown = self._shown(x, sigma)
        return self._said(self.inner(shown, sigma), x, shown)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """The guided picture and that under the negative prompt, which is not blended."""
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
