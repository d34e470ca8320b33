"""Making the `Architecture` of Flux.1's checkpoints."""

import math

from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.map_choices import ControlKind
from engine.api.values import ConventionName
from engine.embeddings.embedding import CLIP_L
from engine.families.architecture import Architecture
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.flux.denoiser import MOST_REFERENCES, FluxDenoiser, concat_channels
from engine.families.flux.hints import CANNY, DEPTH, KONTEXT
from engine.families.flux.lora_layers import ORIGINAL, flux_lora_layers
from engine.families.flux.reference_sizes import reference_size
from engine.families.shared.flux.lora_blocks import block_namer, element_namer
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.shared.t5.clip_and_t5 import ClipAndT5Text
from engine.graphs.flux import FluxConfig
from engine.sampling.noise_model import (
    FLOW_SAMPLERS,
    FLOW_SCHEDULES,
    FlowLevels,
    RectifiedFlow,
    SizeShift,
)

# CLIP ViT-L, of which the first chunk is pooled.
_CLIP_TOKENS, _CLIP_WIDTH = 75, 768
# The positions of a text that schnell and dev were trained with.
_POSITIONS = {False: 256, True: 512}
_ENCODERS = {Component.TEXT_ENCODER: "CLIP", Component.TEXT_ENCODER_2: "T5"}
# The maps that variants were trained to follow.
_MAPS = {CANNY: ControlKind.CANNY, DEPTH: ControlKind.DEPTH}
_COMFY, _FORGE = ConventionName.COMFY, ConventionName.A1111
# ComfyUI `ModelSamplingFlux` and Forge `PredictionFlux`, which stands for A1111 here.
_FIXED = FlowLevels(math.exp(1.15), count=10_000)
_DEV = RectifiedFlow(SizeShift(), tools={_COMFY: _FIXED, _FORGE: _FIXED})
_SCHNELL = RectifiedFlow(1.0, tools={_FORGE: FlowLevels(math.e, count=10_000)})


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""
    source = checkpoint.components.get(Component.DENOISER)
    config = source.config if source else None
    takes_guidance = isinstance(config, FluxConfig) and config.takes_guidance
    positions = _POSITIONS[takes_guidance]
    return Architecture(
        features=_features(checkpoint, takes_guidance=takes_guidance),
        text=ClipAndT5Text(checkpoint, positions=positions, embeds_guidance=takes_guidance),
        denoiser=FluxDenoiser(checkpoint),
        noise=_DEV if takes_guidance else _SCHNELL,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {FLUX.name: FLUX}),
        lora_layers=flux_lora_layers(checkpoint),
        lora_block=block_namer(_ENCODERS),
        lora_element=element_namer(checkpoint, ORIGINAL, _ENCODERS),
        reference_size=reference_size if checkpoint.variant == KONTEXT else None,
    )


def _features(checkpoint: IdentifiedCheckpoint, *, takes_guidance: bool) -> Features:
    channels = concat_channels(checkpoint)
    options = [OptionalSetting.SECOND_PASSES, OptionalSetting.CONTROLS]
    if not has_tiny_vae(checkpoint):
        options.append(OptionalSetting.VAE_TILE)
    return Features(
        guidance=(*([GuidanceKind.EMBEDDED] if takes_guidance else []), GuidanceKind.CFG),
        concat_channels=channels,
        own_map=_MAPS.get(checkpoint.variant),
        # Two cells of the latent are a token's side.
        size_multiple=2 * checkpoint.latent.downscale,
        texts=(
            TextLength(label="T5", tokens=_POSITIONS[takes_guidance]),
            TextLength(label="CLIP", tokens=_CLIP_TOKENS, key=CLIP_L, width=_CLIP_WIDTH),
        ),
        samplers=FLOW_SAMPLERS,
        schedules=FLOW_SCHEDULES,
        options=tuple(options),
        reference_pictures=MOST_REFERENCES if checkpoint.variant == KONTEXT else 0,
    )
