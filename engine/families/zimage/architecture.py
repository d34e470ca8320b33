"""Making the `Architecture` of Z-Image's checkpoints."""

from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.values import ConventionName
from engine.families.architecture import Architecture
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.qwen3.text_encoding import Qwen3Text
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.zimage.denoiser import ZImageDenoiser, text_marks
from engine.families.zimage.hints import BASE
from engine.families.zimage.lora_layers import zimage_lora_layers
from engine.sampling.noise_model import FLOW_SAMPLERS, FLOW_SCHEDULES, FlowLevels, RectifiedFlow
from engine.text.chat_rows import CUT_POSITIONS, THINKING

# ComfyUI's `ZImage` and Forge Neo have one shift; the scheduler of Base's folder has another.
_TURBO = RectifiedFlow(3.0)
_BASE = RectifiedFlow(
    6.0,
    tools={ConventionName.COMFY: FlowLevels(3.0), ConventionName.A1111: FlowLevels(3.0)},
)


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""
    return Architecture(
        features=_features(checkpoint),
        text=Qwen3Text(checkpoint, THINKING, text_marks),
        denoiser=ZImageDenoiser(checkpoint),
        noise=_BASE if checkpoint.variant == BASE else _TURBO,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {FLUX.name: FLUX}),
        lora_layers=zimage_lora_layers(checkpoint),
    )


def _features(checkpoint: IdentifiedCheckpoint) -> Features:
    tiles = () if has_tiny_vae(checkpoint) else (OptionalSetting.VAE_TILE,)
    return Features(
        negative_prompt=True,
        guidance=(GuidanceKind.CFG,),
        # Two cells of the latent are a token's side.
        size_multiple=2 * checkpoint.latent.downscale,
        texts=(TextLength(label="Qwen3", tokens=CUT_POSITIONS),),
        samplers=FLOW_SAMPLERS,
        schedules=FLOW_SCHEDULES,
        options=(OptionalSetting.SECOND_PASSES, *tiles),
    )
