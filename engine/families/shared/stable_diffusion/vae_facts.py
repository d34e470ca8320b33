"""What is known of a family's VAEs: the latents they speak, and whether float16 holds them."""

import re
from pathlib import Path

from engine.checkpoints.diffusers_configs import VaeFile
from engine.families.base import Parts
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.edm import LatentStatistics
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace

LATENT_CHANNELS = 4
# madebyollin's, whose activations were made small enough; shapes are those of the usual one.
_FITS_F16 = re.compile(r"fp16[-_. ]?fix", re.IGNORECASE)


def usual_latents(
    parts: Parts, space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """For a VAE of the space `vaes`, or one of its own, and a denoiser that sees `space`."""
    scale = space.scale if parts.latent_scale is None else parts.latent_scale
    # A VAE of its own has a latent space of its own, and its scale shows it.
    is_usual = channels == LATENT_CHANNELS and scale == space.scale
    shift, preview = parts.latent_shift or 0.0, space.preview if is_usual else None
    statistics = parts.statistics or (space.statistics if is_usual else None)
    name = vaes.name if is_usual else ""
    return LatentFormat(channels, downscale, scale, shift, preview, name, statistics)


def tiny_latents(
    space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """For a tiny VAE, whose latents are those of the space `vaes`, already scaled."""
    statistics = space.statistics
    if statistics is None:
        scale = space.scale / vaes.scale
        return LatentFormat(channels, downscale, scale, 0.0, space.preview, vaes.name)
    scaled = LatentStatistics(
        tuple(vaes.scale * value for value in statistics.mean),
        tuple(vaes.scale * value for value in statistics.deviation),
    )
    return LatentFormat(channels, downscale, space.scale, 0.0, space.preview, vaes.name, scaled)


def statistics_of_folder(vae: VaeFile | None) -> LatentStatistics | None:
    """How a folder's VAE says that latents are normalised, channel by channel."""
    if vae is None or not vae.latents_mean or not vae.latents_std:
        return None
    return LatentStatistics(vae.latents_mean, vae.latents_std)


def name_that_fits_f16(path: Path) -> str:
    """Why a file's VAE is fit for float16, as far as its name tells; else empty."""
    return "its name says fp16-fix" if _FITS_F16.search(path.name) else ""


def configuration_that_fits_f16(vae: VaeFile | None) -> str:
    """Why a folder's VAE is fit for float16, as far as its `config.json` tells; else empty."""
    fits = vae is not None and not vae.force_upcast
    return "its configuration says force_upcast = false" if fits else ""


def words_of_vae(parts: Parts) -> tuple[str, ...]:
    """Why the VAE is fit for float16, where its family's is not."""
    return (f"VAE fit for float16 because {parts.vae_fits_f16}",) if parts.vae_fits_f16 else ()
