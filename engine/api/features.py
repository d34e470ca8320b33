"""The abilities of a checkpoint's architecture, as data.

They decide the controls that the form shows and the limits of a request.
"""

from enum import StrEnum

import msgspec

from engine.api.map_choices import ControlKind
from engine.api.values import SamplerName, ScheduleName


class ConcatChannels(StrEnum):
    """The input channels of a denoiser that are concatenated after those of the latent."""

    NONE = "none"
    # The latent of the picture to edit by instruction (InstructPix2Pix, Brooks et al. 2023).
    PICTURE = "picture"
    # A mask of the area to paint, and the latent of the picture with that area blanked.
    MASK = "mask"
    # The latent of the picture with the area to paint blanked, and the mask's pixels of each cell.
    FILL = "fill"
    # The latent of a map that the picture follows, such as its edges.
    MAP = "map"

    @property
    def takes_mask(self) -> bool:
        """True if the denoiser is shown a mask, and the picture with the masked area blanked."""
        return self in (ConcatChannels.MASK, ConcatChannels.FILL)


class GuidanceKind(StrEnum):
    """A way to follow the prompt more strictly."""

    # Classifier-free guidance: the denoiser also runs on a negative prompt, and the result moves
    # away from it (Ho and Salimans 2022).
    CFG = "cfg"
    # The guidance scale is an input of a distilled denoiser (Meng et al. 2023).
    EMBEDDED = "embedded"
    # Guidance towards the picture that is edited (Brooks et al. 2023).
    IMAGE = "image"


class OptionalSetting(StrEnum):
    """Settings of a request that only some architectures support."""

    # SDXL's time ids (`SizeOptions`).
    SIZES = "sizes"
    # The aesthetic scores of SDXL's refiner.
    AESTHETIC_SCORE = "aesthetic_score"
    ZERO_TERMINAL_SNR = "zero_terminal_snr"
    VAE_TILE = "vae_tile"
    # Control layers and image prompts: networks for them were trained for the architecture.
    CONTROLS = "controls"
    IMAGE_PROMPTS = "image_prompts"
    SECOND_PASSES = "second_passes"
    # Seamless edges: networks of convolutions.
    TILING = "tiling"
    FREEU = "freeu"
    PERTURBED_ATTENTION = "perturbed_attention"
    # Self-attention that also attends to a reference picture: "reference_only".
    REFERENCE_ATTENTION = "reference_attention"
    # Guidance by the attention of the denoiser's middle.
    SELF_ATTENTION_GUIDANCE = "self_attention_guidance"


class TextLength(msgspec.Struct, frozen=True, kw_only=True):
    """The number of tokens that a text encoder takes at once.

    `key` and `width` say which vectors of embeddings the encoder takes; one without a width takes
    none.
    """

    label: str
    tokens: int
    key: str = ""
    width: int = 0


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities of a checkpoint's architecture."""

    # True if a negative prompt has an effect.
    negative_prompt: bool = True
    # The default output layer of the text encoder, counted from the end from 1, and the deepest
    # that can be chosen; 0: there is no choice.
    clip_skip: int = 1
    deepest_clip_skip: int = 0
    guidance: tuple[GuidanceKind, ...] = (GuidanceKind.CFG,)
    concat_channels: ConcatChannels = ConcatChannels.NONE
    # The kind of map that the denoiser itself follows, if it follows one and the kind is known.
    own_map: ControlKind | None = None
    # True if refiners were trained for this architecture; True if it can be a refiner itself.
    refiner: bool = False
    refines: bool = False
    # The most reference pictures; 0: it takes none.
    reference_pictures: int = 0
    # Width and height are multiples of this, in pixels.
    size_multiple: int = 8
    texts: tuple[TextLength, ...] = ()
    # The samplers and schedules that work; None if all do.
    samplers: tuple[SamplerName, ...] | None = None
    schedules: tuple[ScheduleName, ...] | None = None
    options: tuple[OptionalSetting, ...] = ()

    @property
    def edits(self) -> bool:
        """Return True if the architecture edits a picture by instruction."""
        return self.concat_channels is ConcatChannels.PICTURE

    @property
    def follows_map(self) -> bool:
        """Return True if the denoiser itself follows a map, without a control network."""
        return self.concat_channels is ConcatChannels.MAP

    @property
    def embeds_guidance(self) -> bool:
        """Return True if the guidance of a request is an input of the denoiser."""
        return GuidanceKind.EMBEDDED in self.guidance

    @property
    def takes_true_cfg(self) -> bool:
        """Return True if there is a scale of CFG beside the request's guidance."""
        return self.embeds_guidance and GuidanceKind.CFG in self.guidance

    def cfg_scale(self, guidance: float, true_cfg: float) -> float:
        """Return the scale of classifier-free guidance, from a request's two scales."""
        if not self.embeds_guidance:
            return guidance
        return true_cfg if GuidanceKind.CFG in self.guidance else 1.0

    def sees_negative(self, true_cfg: float) -> bool:
        """Return True if a negative prompt may have an effect, with this true CFG scale."""
        return self.negative_prompt and (not self.embeds_guidance or true_cfg != 1)
