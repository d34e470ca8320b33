"""The abilities of a checkpoint's architecture, as data: the form's offer, a request's limits."""

from enum import StrEnum

import msgspec

from engine.api.values import SamplerName, ScheduleName


class ConcatChannels(StrEnum):
    """Channels that a denoiser takes after those of the latent."""

    NONE = "none"
    # The latent of the picture that it edits by instruction (Brooks et al. 2023).
    PICTURE = "picture"
    # A mask of what is to be painted, and the latent of the picture without that.
    MASK = "mask"


class GuidanceKind(StrEnum):
    """A way to follow the prompt more strictly."""

    # Away from a negative prompt, which the denoiser runs on, too (Ho and Salimans 2022).
    CFG = "cfg"
    # A number that the denoiser takes as an input (Meng et al. 2023).
    EMBEDDED = "embedded"
    # Towards the picture that is edited (Brooks et al. 2023).
    IMAGE = "image"


class OptionalSetting(StrEnum):
    """Settings of a request that mean something to some architectures alone."""

    # Time ids of SDXL (`SizeOptions`).
    SIZES = "sizes"
    # The aesthetic scores of SDXL's refiner.
    AESTHETIC_SCORE = "aesthetic_score"
    ZERO_TERMINAL_SNR = "zero_terminal_snr"
    VAE_TILE = "vae_tile"


class TextLength(msgspec.Struct, frozen=True, kw_only=True):
    """The length of text that an encoder takes: `tokens` at once, of which `chunked` takes more."""

    label: str
    tokens: int
    chunked: bool = False


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities of a checkpoint's architecture."""

    # Whether a negative prompt has an effect.
    negative_prompt: bool = True
    # The layer of the text encoder, counted from the end, that is read where nobody chooses it,
    # and the farthest that can be read; 0: there is no choice.
    clip_skip: int = 1
    deepest_clip_skip: int = 0
    guidance: tuple[GuidanceKind, ...] = (GuidanceKind.CFG,)
    concat_channels: ConcatChannels = ConcatChannels.NONE
    # Whether refiners were trained for it, and whether it may be one.
    refiner: bool = False
    refines: bool = False
    # How many pictures can be referred to beside the one that is painted over.
    reference_pictures: int = 0
    # Width and height are multiples of this, in pixels.
    size_multiple: int = 8
    texts: tuple[TextLength, ...] = ()
    # Those that work; None for all.
    samplers: tuple[SamplerName, ...] | None = None
    schedules: tuple[ScheduleName, ...] | None = None
    options: tuple[OptionalSetting, ...] = ()

    @property
    def edits(self) -> bool:
        """Return True if the architecture edits a picture by instruction."""
        return self.concat_channels is ConcatChannels.PICTURE

    @property
    def embeds_guidance(self) -> bool:
        """Return True if guidance is an input of the denoiser, which runs on one prompt alone."""
        return GuidanceKind.EMBEDDED in self.guidance and GuidanceKind.CFG not in self.guidance
