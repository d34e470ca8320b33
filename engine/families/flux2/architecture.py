"""Making the `Architecture` of FLUX.2 klein's checkpoints."""

from collections.abc import Mapping

from backends.base import Array
from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.values import ConventionName
from engine.families.architecture import Architecture
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.flux2.denoiser import MOST_REFERENCES, Flux2Denoiser
from engine.families.flux2.lora_layers import flux2_lora_layers
from engine.families.flux2.reference_sizes import reference_scale, reference_size
from engine.families.shared.component_network import config_of
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.qwen3.text_encoding import Qwen3Text
from engine.families.shared.stable_diffusion.latent_spaces import FLUX2
from engine.graphs.flux2 import Flux2Config, text_rotations
from engine.sampling.noise_model import (
    FLOW_SAMPLERS,
    FLOW_SCHEDULES,
    FlowLevels,
    RectifiedFlow,
    SizeAndStepsShift,
)
from engine.text.chat_rows import CUT_POSITIONS, WITHOUT_THOUGHTS

# The layers of Qwen3 after which states are read, side by side.
AFTER = (9, 18, 27)
_SHIFT = SizeAndStepsShift()
# ComfyUI's `Flux2Scheduler` has the very times; ten thousand levels come closest.
_FLOW = RectifiedFlow(_SHIFT, tools={ConventionName.COMFY: FlowLevels(_SHIFT, count=10_000)})


def architecture_of(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """Return the architecture of a checkpoint."""

    def turns(context: Array) -> Mapping[str, Array]:
        config = config_of(checkpoint, Component.DENOISER, Flux2Config)
        return text_rotations(config, *context.shape[:2])

    return Architecture(
        features=_features(checkpoint),
        text=Qwen3Text(checkpoint, WITHOUT_THOUGHTS, turns, after=AFTER, keeps_padding=True),
        denoiser=Flux2Denoiser(checkpoint),
        noise=_FLOW,
        autoencoder=autoencoder_of(checkpoint),
        previews=LatentPreviews(checkpoint, {FLUX2.name: FLUX2}),
        reference_size=reference_size,
        reference_scale=reference_scale,
        lora_layers=flux2_lora_layers(checkpoint),
    )


def _features(checkpoint: IdentifiedCheckpoint) -> Features:
    tiles = () if has_tiny_vae(checkpoint) else (OptionalSetting.VAE_TILE,)
    return Features(
        negative_prompt=True,
        guidance=(GuidanceKind.CFG,),
        size_multiple=checkpoint.latent.downscale,
        texts=(TextLength(label="Qwen3", tokens=CUT_POSITIONS),),
        samplers=FLOW_SAMPLERS,
        schedules=FLOW_SCHEDULES,
        options=(OptionalSetting.SECOND_PASSES, *tiles),
        reference_pictures=MOST_REFERENCES,
    )
