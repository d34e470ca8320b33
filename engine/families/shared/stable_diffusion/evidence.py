"""Descriptions of components as text for the user."""

from collections.abc import Mapping

from engine.families.base import Component, ComponentSource
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.vae import VaeConfig


def described(sources: Mapping[Component, ComponentSource]) -> tuple[str, ...]:
    """Return a description of each component, from its configuration."""
    return tuple(_describe(source.config) for source in sources.values())


def _describe(config: object) -> str:
    if isinstance(config, UNetConfig):
        widths = "-".join(str(block.width) for block in config.down)
        kind = "linear" if config.linear_projection else "convolutional"
        return (
            f"UNet of widths {widths} with {kind} projections, "
            f"{config.in_channels} channels in, context {config.context_width} wide"
        )
    if isinstance(config, VaeConfig):
        widths = "-".join(str(width) for width in config.widths)
        return f"VAE of widths {widths}, {config.latent_channels} latent channels"
    if isinstance(config, TinyVaeConfig):
        return f"tiny VAE (TAESD), {config.latent_channels} latent channels"
    if isinstance(config, ClipTextConfig):
        return f"CLIP text encoder, {config.layers} layers {config.width} wide"
    return type(config).__name__
