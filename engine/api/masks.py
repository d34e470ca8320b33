"""Options of a mask: which part of a picture is painted, and from what."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.features import ConcatChannels
from engine.api.fields import each_within, summary, within
from engine.api.limits import MAX_SIDE


class MaskedContent(StrEnum):
    """The content of the masked part under the noise, before it is painted."""

    ORIGINAL = "original"  # what is there
    FILL = "fill"  # the colours around it, blurred into it
    LATENT_NOISE = "latent_noise"  # noise of unit variance in the latent
    LATENT_NOTHING = "latent_nothing"  # zeros in the latent

    @property
    def label(self) -> str:
        """The name that A1111 writes into a picture."""
        return self.value.replace("_", " ")


class MaskOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of reading and using a mask; white is painted, black is kept. Lengths are in pixels.

    Blur, padding and what is painted first are AUTOMATIC1111's (`StableDiffusionProcessingImg2Img`,
    `modules/processing.py`), growing the canvas is ComfyUI's (`ImagePadForOutpaint`).
    """

    # The deviation of the blur, of the mask as it is in its file; None: 4 where the convention is
    # AUTOMATIC1111's, whose window has that, and 0 elsewhere or where the canvas grows.
    blur: Annotated[int | None, within(0, 64, "blur of the mask")] = None
    # Black is painted instead.
    inverted: bool = False
    # None: the fill where the canvas grows, else the original.
    content: MaskedContent | None = None
    # Only the surroundings of the mask are painted, at the size of the whole, and put back.
    only_masked: bool = False
    # How far these surroundings reach beyond the mask.
    padding: Annotated[int, within(0, 4096, "padding of the mask")] = 32
    # How far the canvas grows to the left, the top, the right and the bottom; that is painted.
    expand: Annotated[
        tuple[int, int, int, int],
        each_within(0, MAX_SIDE, "margin"),
        summary("canvas grown by {expand}"),
    ] = (0, 0, 0, 0)
    # How far the painted part reaches into the picture there, ever less.
    feather: Annotated[int, within(0, 4096)] = 40

    @property
    def expands(self) -> bool:
        """True if the canvas grows."""
        return any(self.expand)


def default_strength(concat: ConcatChannels, options: MaskOptions, *, masked: bool) -> float:
    """The part of a picture that is redrawn if no strength is given, from 0 to 1.

    An instruction is followed from noise, and so is what an inpainting denoiser paints.
    """
    from_noise = (
        concat is ConcatChannels.PICTURE
        or (concat is ConcatChannels.MASK and masked)
        or options.expands
    )
    return 1.0 if from_noise else 0.75
