"""The latents of VAEs with shifted values: Flux.1's, which other families have, and SD 3's."""

from engine.families.checkpoint import VaeFacts
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.latent_spaces import FLUX, LatentSpace
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig

DOWNSCALE = 8


def flux_latent_format(vae: object, stated: VaeFacts, space: LatentSpace = FLUX) -> LatentFormat:
    """Return the latents of a VAE by its configuration; those of `space` where there is none."""
    if isinstance(vae, TinyVaeConfig):
        return LatentFormat(
            vae.latent_channels, DOWNSCALE, 1.0, preview=space.preview, space=space.name
        )
    channels = vae.latent_channels if isinstance(vae, VaeConfig) else len(space.preview.weights)
    downscale = vae.downscale if isinstance(vae, VaeConfig) else DOWNSCALE
    scale = space.scale if stated.scale is None else stated.scale
    shift = space.shift if stated.shift is None else stated.shift
    is_usual = channels == len(space.preview.weights) and (scale, shift) == (
        space.scale,
        space.shift,
    )
    preview, name = (space.preview, space.name) if is_usual else (None, "")
    return LatentFormat(channels, downscale, scale, shift, preview, name)
