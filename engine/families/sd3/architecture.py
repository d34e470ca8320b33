"""Making the `Architecture` of Stable Diffusion 3's checkpoints."""

from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.values import ConventionName
from engine.families.architecture import Architecture
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.sd3.denoiser import Sd3Denoiser
from engine.families.sd3.keys import LABELS
from engine.families.sd3.lora_layers import sd3_lora_layers
from engine.families.sd3.text import CLIP_SKIP, POSITIONS, Sd3Text
from engine.families.shared.clip.insertions import encoders_of
from engine.families.shared.clip.network import text_layers
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.stable_diffusion.latent_spaces import SD3
from engine.graphs.sd3 import Sd3Config
from engine.memory.plan import MemoryFacts
from engine.sampling.noise_model import FLOW_SAMPLERS, FLOW_SCHEDULES, FlowLevels, RectifiedFlow
from engine.text.chunks import CHUNK_TOKENS

# Measured for two blocks of full size in float32, whose memory all blocks use in turn, with
# 333 tokens of text at 512 x 512, and SD 3.5 medium's at 1024 x 1024: for each number of the width
# up to 15 bytes a cell and context, of which there are two. The VAE's are Stable Diffusion's.
_DENOISER_BYTES, _VAE_BYTES, _VAE_CORE_BYTES = 31, 90_000, 12_000
# ComfyUI `ModelSamplingDiscreteFlow`, Forge `PredictionDiscreteFlow` and the folders' schedulers
# shift alike; InvokeAI (`sd3_denoise.py`) does not shift.
_FLOW = RectifiedFlow(
    3.0,
    tools={
        ConventionName.DIFFUSERS: FlowLevels(3.0, ends_lowest=True),
        ConventionName.INVOKE: FlowLevels(1.0),
    },
)
# The sizes of SD 3 medium, for a checkpoint without a transformer.
_WIDTH, _CONTEXT = 1536, 4096


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""
    source = checkpoint.components.get(Component.DENOISER)
    config = source.config if source else None
    known = isinstance(config, Sd3Config)
    width, context = (config.width, config.context_width) if known else (_WIDTH, _CONTEXT)
    return Architecture(
        features=_features(checkpoint),
        text=Sd3Text(checkpoint, context),
        denoiser=Sd3Denoiser(checkpoint),
        noise=_FLOW,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {SD3.name: SD3}),
        memory=MemoryFacts(width * _DENOISER_BYTES, _VAE_BYTES, _VAE_CORE_BYTES),
        lora_layers=sd3_lora_layers(checkpoint),
    )


def _features(checkpoint: IdentifiedCheckpoint) -> Features:
    tiles = () if has_tiny_vae(checkpoint) else (OptionalSetting.VAE_TILE,)
    return Features(
        negative_prompt=True,
        clip_skip=CLIP_SKIP,
        deepest_clip_skip=text_layers(checkpoint),
        guidance=(GuidanceKind.CFG,),
        # Two cells of the latent are a token's side.
        size_multiple=2 * checkpoint.latent.downscale,
        texts=_texts(checkpoint),
        samplers=FLOW_SAMPLERS,
        schedules=FLOW_SCHEDULES,
        options=(OptionalSetting.SECOND_PASSES, OptionalSetting.CONTROLS, *tiles),
    )


def _texts(checkpoint: IdentifiedCheckpoint) -> tuple[TextLength, ...]:
    """Return the lengths of CLIP's chunks and of T5's rows: 0 tokens without T5."""
    clip = tuple(
        TextLength(
            label=str(LABELS[one]),
            tokens=CHUNK_TOKENS,
            chunked=True,
            key=encoder.key,
            width=encoder.width,
        )
        for one, encoder in encoders_of(checkpoint).items()
    )
    has_t5 = Component.TEXT_ENCODER_3 in checkpoint.components
    return (*clip, TextLength(label="T5", tokens=POSITIONS if has_t5 else 0))
