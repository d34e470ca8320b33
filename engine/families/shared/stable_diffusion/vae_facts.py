"""Facts about VAEs: the format of their latents, and evidence that they run in float16."""

import re
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_configs import VaeFile
from engine.families.checkpoint import Parts
from engine.families.latents import LatentFormat, LatentStatistics
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace

LATENT_CHANNELS = 4
# The name of madebyollin's VAE with smaller activations; its shapes are those of the usual VAE.
_FITS_F16 = re.compile(r"fp16[-_. ]?fix", re.IGNORECASE)


def usual_latents(
    parts: Parts, space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """Return the latent format of a KL autoencoder.

    `vaes` is the latent space of the family's VAEs, `space` the space of the denoiser's input. A
    VAE with another scale or number of channels has a latent space of its own.
    """
    scale = space.scale if parts.vae.scale is None else parts.vae.scale
    # Another scale or another number of channels shows another latent space.
    is_usual = channels == LATENT_CHANNELS and scale == space.scale
    shift, preview = parts.vae.shift or 0.0, space.preview if is_usual else None
    statistics = parts.denoiser.statistics or (space.statistics if is_usual else None)
    name = vaes.name if is_usual else ""
    return LatentFormat(channels, downscale, scale, shift, preview, name, statistics)


def tiny_latents(
    space: LatentSpace, vaes: LatentSpace, channels: int, downscale: int
) -> LatentFormat:
    """Return the latent format of a tiny VAE, whose latents are of `vaes` and already scaled.

    `space` is the space of the denoiser's input.
    """
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
    """Return the latent statistics that the VAE's configuration states, or None."""
    if vae is None or not vae.latents_mean or not vae.latents_std:
        return None
    return LatentStatistics(vae.latents_mean, vae.latents_std)


def name_that_fits_f16(path: Path) -> Sentence | None:
    """Return the evidence in a file's name that its VAE runs in float16; None without any."""
    fits = _FITS_F16.search(path.name) is not None
    return sentence("its name says {words}", words="fp16-fix") if fits else None


def configuration_that_fits_f16(vae: VaeFile | None) -> Sentence | None:
    """Return the evidence in a VAE's configuration that it runs in float16; None without any."""
    if vae is None or vae.force_upcast:
        return None
    return sentence("its configuration says {words}", words="force_upcast = false")


def words_of_vae(parts: Parts) -> tuple[Sentence, ...]:
    """Return a sentence that the VAE runs in float16, or nothing without evidence."""
    why = parts.vae.fits_f16
    return (sentence("VAE fit for float16 because {why}", why=why),) if why else ()
