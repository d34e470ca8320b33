"""The latents of Flux.1's VAE, which other families have, too."""

from engine.families.base import VaeFacts
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig

DOWNSCALE = 8


def flux_latent_format(vae: object, stated: VaeFacts) -> LatentFormat:
    """Return the latents of a VAE by its configuration; those of Flux.1's where there is none."""
    if isinstance(vae, TinyVaeConfig):
        return LatentFormat(
            vae.latent_channels, DOWNSCALE, 1.0, preview=FLUX.preview, space=FLUX.name
        )
    channels = vae.latent_channels if isinstance(vae, VaeConfig) else len(FLUX.preview.weights)
    downscale = vae.downscale if isinstance(vae, VaeConfig) else DOWNSCALE
    scale = FLUX.scale if stated.scale is None else stated.scale
    shift = FLUX.shift if stated.shift is None else stated.shift
    is_usual = channels == len(FLUX.preview.weights) and (scale, shift) == (FLUX.scale, FLUX.shift)
    preview, name = (FLUX.preview, FLUX.name) if is_usual else (None, "")
    return LatentFormat(channels, downscale, scale, shift, preview, name)
