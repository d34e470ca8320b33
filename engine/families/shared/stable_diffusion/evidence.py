"""Descriptions of components as text for the user."""

from collections.abc import Mapping

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.stable_diffusion.key_layout import LABELS
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.vae import VaeConfig


def described(sources: Mapping[Component, ComponentSource]) -> tuple[Sentence, ...]:
    """Return a description of each component, from its configuration."""
    return tuple(_describe(source.config) for source in sources.values())


def left_out(component: Component, title: str) -> Sentence:
    """Return the remark that a file's component is none of the family with this title."""
    return sentence("{part} left out: not of {family}", part=LABELS[component], family=title)


def _describe(config: object) -> Sentence:
    if isinstance(config, UNetConfig):
        widths = "-".join(str(block.width) for block in config.down)
        return sentence(
            "UNet of widths {widths} with {kind} projections, {channels} channels in, "
            "context {context} wide",
            widths=widths,
            kind=sentence("linear") if config.linear_projection else sentence("convolutional"),
            channels=config.in_channels,
            context=config.context_width,
        )
    if isinstance(config, VaeConfig):
        return _of_vae(config)
    if isinstance(config, TinyVaeConfig):
        return sentence(
            "tiny VAE (TAESD), {channels} latent channels", channels=config.latent_channels
        )
    if isinstance(config, ClipTextConfig):
        return sentence(
            "CLIP text encoder, {layers} layers {width} wide",
            layers=config.layers,
            width=config.width,
        )
    return as_it_is(type(config).__name__)


def _of_vae(config: VaeConfig) -> Sentence:
    mine, of_decoder = (
        "-".join(str(width) for width in config.widths_of(side)) for side in ("encoder", "decoder")
    )
    if mine == of_decoder:
        return sentence(
            "VAE of widths {widths}, {channels} latent channels",
            widths=mine,
            channels=config.latent_channels,
        )
    return sentence(
        "VAE of widths {widths} with a decoder of {others}, {channels} latent channels",
        widths=mine,
        others=of_decoder,
        channels=config.latent_channels,
    )
