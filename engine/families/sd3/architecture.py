"""Making the `Architecture` of Stable Diffusion 3's checkpoints."""

from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.values import ConventionName
from engine.families.architecture import Architecture
from engine.families.checkpoint import Component, IdentifiedCheckpoint
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
from engine.sampling.noise_model import FLOW_SAMPLERS, FLOW_SCHEDULES, FlowLevels, RectifiedFlow
from engine.text.chunks import CHUNK_TOKENS

# ComfyUI `ModelSamplingDiscreteFlow`, Forge `PredictionDiscreteFlow` and the folders' schedulers
# shift alike; InvokeAI (`sd3_denoise.py`) does not shift.
_FLOW = RectifiedFlow(
    3.0,
    tools={
        ConventionName.DIFFUSERS: FlowLevels(3.0, ends_lowest=True),
        ConventionName.INVOKE: FlowLevels(1.0),
    },
)
# The width of the text in SD 3 medium, for a checkpoint without a transformer.
_CONTEXT = 4096


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""
    source = checkpoint.components.get(Component.DENOISER)
    config = source.config if source else None
    known = isinstance(config, Sd3Config)
    context = config.context_width if known else _CONTEXT
    return Architecture(
        features=_features(checkpoint),
        text=Sd3Text(checkpoint, context),
        denoiser=Sd3Denoiser(checkpoint),
        noise=_FLOW,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {SD3.name: SD3}),
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
            label=str(LABELS[component]),
            tokens=CHUNK_TOKENS,
            key=encoder.key,
            width=encoder.width,
        )
        for component, encoder in encoders_of(checkpoint).items()
    )
    has_t5 = Component.TEXT_ENCODER_3 in checkpoint.components
    return (*clip, TextLength(label="T5", tokens=POSITIONS if has_t5 else 0))
