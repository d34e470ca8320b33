"""Facts about VAEs: the format of their latents, and whether float16 holds their activations."""

import re
from pathlib import Path

from engine.checkpoints.diffusers_configs import VaeFile
from engine.families.base import Parts
from engine.families.latents import LatentFormat, LatentStatistics
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace

LATENT_CHANNELS = 4
# madebyollin's, whose activations were made small enough; shapes are those of the usual one.
_FITS_F16 = re.compile(r"fp16[-_. ]?fix", re.IGNORECASE)


def usual_latents(
    parts: Parts, space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """The format for a VAE of the space `vaes`, or one of its own, and a denoiser of `space`."""
    scale = space.scale if parts.vae.scale is None else parts.vae.scale
    # A VAE of its own has a latent space of its own, and its scale shows it.
    is_usual = channels == LATENT_CHANNELS and scale == space.scale
    shift, preview = parts.vae.shift or 0.0, space.preview if is_usual else None
    statistics = parts.denoiser.statistics or (space.statistics if is_usual else None)
    name = vaes.name if is_usual else ""
    return LatentFormat(channels, downscale, scale, shift, preview, name, statistics)


def tiny_latents(
    space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """The format for a tiny VAE, whose latents are those of the space `vaes`, already scaled."""
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
    """The statistics by which latents are normalised, as the VAE's configuration states them."""
    if vae is None or not vae.latents_mean or not vae.latents_std:
        return None
    return LatentStatistics(vae.latents_mean, vae.latents_std)


def name_that_fits_f16(path: Path) -> str:
    """The evidence in a file's name that its VAE is fit for float16; empty where there is none."""
    return "its name says fp16-fix" if _FITS_F16.search(path.name) else ""


def configuration_that_fits_f16(vae: VaeFile | None) -> str:
    """The evidence in a VAE's configuration that it is fit for float16; empty for none."""
    fits = vae is not None and not vae.force_upcast
    return "its configuration says force_upcast = false" if fits else ""


def words_of_vae(parts: Parts) -> tuple[str, ...]:
    """A sentence that the VAE is fit for float16, where there is evidence for it."""
    why = parts.vae.fits_f16
    return (f"VAE fit for float16 because {why}",) if why else ()
