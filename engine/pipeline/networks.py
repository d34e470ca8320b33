"""The networks of an SD-class checkpoint, ready to compile."""

from typing import cast

from backends.base import Array
from engine.compile.compiler import Network
from engine.families.base import Component, IdentifiedCheckpoint
from engine.graphs.clip_text import ClipTextConfig, clip_text
from engine.graphs.unet import UNetConfig, unet
from engine.graphs.unet import time_waves as unet_time_waves
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder


def text_encoder(
    checkpoint: IdentifiedCheckpoint,
    clip_skip: int = 1,
    *,
    final_norm: bool = True,
    masked: bool = False,
) -> Network:
    """Tokens to embeddings, stopping `clip_skip` - 1 layers early; see `clip_text`."""
    source = checkpoint.components[Component.TEXT_ENCODER]
    config = cast("ClipTextConfig", source.config)
    return Network(
        "text_encoder",
        lambda g: clip_text(g, config, clip_skip, final_norm=final_norm, masked=masked),
        source.weights,
        checkpoint.digest,
    )


def denoiser(checkpoint: IdentifiedCheckpoint, height: int, width: int) -> Network:
    """One step's prediction for pictures of this size in pixels."""
    source = checkpoint.components[Component.DENOISER]
    config = cast("UNetConfig", source.config)
    coarsest = checkpoint.latent.downscale << (len(config.down) - 1)
    halves_evenly = height % coarsest == 0 and width % coarsest == 0
    return Network(
        "denoiser",
        lambda g: unet(g, config, halves_evenly=halves_evenly),
        source.weights,
        checkpoint.digest,
    )


def time_waves(checkpoint: IdentifiedCheckpoint, timestep: float) -> Array:
    """A timestep as the denoiser's input."""
    config = cast("UNetConfig", checkpoint.components[Component.DENOISER].config)
    return unet_time_waves(config, timestep)


def denoiser_channels(checkpoint: IdentifiedCheckpoint) -> int:
    """How many channels the denoiser takes: those of the latent, or more."""
    config = cast("UNetConfig", checkpoint.components[Component.DENOISER].config)
    return config.in_channels


def decoder(checkpoint: IdentifiedCheckpoint) -> Network:
    """Latents to pixels."""
    source = checkpoint.components[Component.VAE]
    config = cast("VaeConfig", source.config)
    return Network(
        "vae_decoder", lambda g: vae_decoder(g, config), source.weights, checkpoint.digest
    )


def encoder(checkpoint: IdentifiedCheckpoint) -> Network:
    """Pixels to latents."""
    source = checkpoint.components[Component.VAE]
    config = cast("VaeConfig", source.config)
    return Network(
        "vae_encoder", lambda g: vae_encoder(g, config), source.weights, checkpoint.digest
    )
