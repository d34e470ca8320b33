"""Making the `Architecture` of Chroma's checkpoints."""

import math

from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.values import ConventionName
from engine.families.architecture import Architecture
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.chroma.denoiser import ChromaDenoiser
from engine.families.chroma.lora_layers import ORIGINAL, chroma_lora_layers
from engine.families.shared.flow.denoiser import MOST_TOKENS
from engine.families.shared.flux.lora_blocks import block_namer, element_namer
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.shared.t5.masked import MaskedT5Text
from engine.sampling.noise_model import (
    FLOW_SAMPLERS,
    FLOW_SCHEDULES,
    FlowLevels,
    RectifiedFlow,
)

_ENCODERS = {Component.TEXT_ENCODER: "T5"}
# ComfyUI's template (`ModelSamplingAuraFlow` with 1) and diffusers leave the levels as they are;
# Forge (`backend/diffusion_engine/chroma.py`), which stands for A1111, shifts them by e.
_FLOW = RectifiedFlow(1.0, tools={ConventionName.A1111: FlowLevels(math.e, count=10_000)})


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""
    tiles = () if has_tiny_vae(checkpoint) else (OptionalSetting.VAE_TILE,)
    features = Features(
        negative_prompt=True,
        guidance=(GuidanceKind.CFG,),
        # Two cells of the latent are a token's side.
        size_multiple=2 * checkpoint.latent.downscale,
        texts=(TextLength(label="T5", tokens=MOST_TOKENS),),
        samplers=FLOW_SAMPLERS,
        schedules=FLOW_SCHEDULES,
        options=(OptionalSetting.SECOND_PASSES, *tiles),
    )
    return Architecture(
        features=features,
        text=MaskedT5Text(checkpoint, MOST_TOKENS),
        denoiser=ChromaDenoiser(checkpoint),
        noise=_FLOW,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {FLUX.name: FLUX}),
        lora_layers=chroma_lora_layers(checkpoint),
        lora_block=block_namer(_ENCODERS),
        lora_element=element_namer(checkpoint, ORIGINAL, _ENCODERS),
    )
