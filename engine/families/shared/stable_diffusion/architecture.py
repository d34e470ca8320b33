"""Making the `Architecture` of Stable Diffusion checkpoints."""

import msgspec

from engine.api.features import (
    ConcatChannels,
    Features,
    GuidanceKind,
    OptionalSetting,
    TextLength,
)
from engine.families.architecture import Architecture
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.shared.clip.insertions import encoders_of
from engine.families.shared.clip.network import text_layers
from engine.families.shared.clip.text_encoding import ClipText
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.kl_vae.autoencoder import autoencoder_of, has_tiny_vae
from engine.families.shared.kl_vae.previews import LatentPreviews
from engine.families.shared.stable_diffusion.key_layout import LABELS
from engine.families.shared.stable_diffusion.latent_spaces import SD, SDXL
from engine.families.shared.stable_diffusion.lora_elements import element_names, lora_block
from engine.families.shared.stable_diffusion.lora_layers import lora_layers
from engine.families.shared.stable_diffusion.size_conditioning import SizeConditioning, TimeIds
from engine.families.shared.unet.denoiser import (
    UNetDenoiser,
    attends_to_itself,
    concat_channels,
    embeds_guidance,
    may_be_steered,
    takes_free_u,
    text_attention,
)
from engine.graphs.unet_changes import SEEN_LAYER
from engine.sampling.noise_model import VarianceExploding
from engine.sampling.schedules import AlignedFor, EdmLevels
from engine.text.chunks import CHUNK_LENGTH

_TINY_SPACES = {space.name: space for space in (SD, SDXL)}
# The tokens of a chunk without its begin and end tokens.
_TOKENS = CHUNK_LENGTH - 2


class StableDiffusion(msgspec.Struct, frozen=True):
    """A family's constants for running its checkpoints.

    `time_ids`: the time ids of the UNet, None for a UNet without them. `refiner`: a refiner was
    trained for the family. `refines`: a checkpoint of the family may serve as a refiner.
    `controls`, `image_prompts`: ControlNets and IP-Adapters were trained for the family.
    """

    time_ids: TimeIds | None = None
    refiner: bool = False
    refines: bool = False
    controls: bool = True
    image_prompts: bool = True


class StableDiffusionMaker(msgspec.Struct, frozen=True):
    """Makes the architecture of one checkpoint from its family's constants and its own facts.

    `levels`: the levels of a denoiser trained by levels, None for one trained by timesteps.
    `vae_overflows_f16`: the VAE's activations exceed the range of float16.
    """

    family: StableDiffusion
    text: TextUse
    levels: EdmLevels | None = None
    vae_overflows_f16: bool = False

    def __call__(self, checkpoint: IdentifiedCheckpoint) -> Architecture:
        """Return the architecture of a checkpoint."""
        time_ids = self.family.time_ids
        pooled = SizeConditioning(checkpoint, time_ids) if time_ids else None
        return Architecture(
            features=self._features(checkpoint),
            text=ClipText(checkpoint, self.text, pooled),
            denoiser=UNetDenoiser(checkpoint),
            noise=VarianceExploding(
                checkpoint.prediction,
                AlignedFor.SDXL if time_ids else AlignedFor.SD1,
                self.levels,
            ),
            autoencoder=autoencoder_of(checkpoint, overflows_f16=self.vae_overflows_f16),
            previews=LatentPreviews(checkpoint, _TINY_SPACES),
            lora_layers=lora_layers(checkpoint),
            lora_block=lora_block,
            lora_element=element_names(checkpoint),
            attention=text_attention(checkpoint),
        )

    def _features(self, checkpoint: IdentifiedCheckpoint) -> Features:
        guidance = _guidance(checkpoint)
        return Features(
            negative_prompt=GuidanceKind.CFG in guidance,
            clip_skip=self.text.clip_skip,
            deepest_clip_skip=text_layers(checkpoint),
            guidance=guidance,
            concat_channels=concat_channels(checkpoint),
            refiner=self.family.refiner,
            refines=self.family.refines,
            size_multiple=checkpoint.latent.downscale,
            texts=tuple(
                TextLength(
                    label=str(LABELS[component]),
                    tokens=_TOKENS,
                    key=encoder.key,
                    width=encoder.width,
                )
                for component, encoder in encoders_of(checkpoint).items()
            ),
            options=self._options(checkpoint),
        )

    def _options(self, checkpoint: IdentifiedCheckpoint) -> tuple[OptionalSetting, ...]:
        """Return the optional settings that have an effect on this checkpoint."""
        steered = may_be_steered(checkpoint)
        edits = concat_channels(checkpoint) is ConcatChannels.PICTURE
        wanted = {
            OptionalSetting.SIZES: self.family.time_ids is not None,
            OptionalSetting.AESTHETIC_SCORE: self.family.time_ids is not None,
            OptionalSetting.ZERO_TERMINAL_SNR: self.levels is None,
            OptionalSetting.VAE_TILE: not has_tiny_vae(checkpoint),
            OptionalSetting.CONTROLS: self.family.controls and steered,
            OptionalSetting.IMAGE_PROMPTS: self.family.image_prompts and steered,
            OptionalSetting.SECOND_PASSES: not edits,
            OptionalSetting.TILING: True,
            OptionalSetting.FREEU: takes_free_u(checkpoint),
            OptionalSetting.PERTURBED_ATTENTION: attends_to_itself(checkpoint),
            OptionalSetting.REFERENCE_ATTENTION: attends_to_itself(checkpoint) and not edits,
            OptionalSetting.SELF_ATTENTION_GUIDANCE: attends_to_itself(checkpoint, SEEN_LAYER),
        }
        return tuple(option for option, acts in wanted.items() if acts)


def _guidance(checkpoint: IdentifiedCheckpoint) -> tuple[GuidanceKind, ...]:
    # A network with guidance as an input was distilled from guided predictions: it needs no CFG.
    first = GuidanceKind.EMBEDDED if embeds_guidance(checkpoint) else GuidanceKind.CFG
    edits = concat_channels(checkpoint) is ConcatChannels.PICTURE
    return (first, GuidanceKind.IMAGE) if edits else (first,)
