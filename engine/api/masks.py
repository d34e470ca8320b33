"""Options of a mask: the part of a picture that is painted, and its initial content."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.features import ConcatChannels
from engine.api.fields import each_within, summary, within
from engine.api.limits import MAX_SIDE
from engine.api.values import ConventionName

# Lengths at the left, top, right and bottom.
Margins = tuple[int, int, int, int]
# Left, top, right and bottom in pixels; right and bottom are exclusive.
Box = tuple[int, int, int, int]
# The blur of masks in AUTOMATIC1111's window, in pixels.
_A1111_BLUR = 4


class MaskedContent(StrEnum):
    """The content of the masked part under the noise, before it is painted."""

    ORIGINAL = "original"  # the picture itself
    FILL = "fill"  # the colours around the masked part, blurred into it
    LATENT_NOISE = "latent_noise"  # noise of unit variance in the latent
    LATENT_NOTHING = "latent_nothing"  # zeros in the latent

    @property
    def label(self) -> str:
        """The name that A1111 writes into a picture."""
        return self.value.replace("_", " ")


class MaskOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of reading and using a mask; white is painted, black is kept. Lengths are in pixels.

    Blur, padding and masked content follow AUTOMATIC1111 (`StableDiffusionProcessingImg2Img`,
    `modules/processing.py`), growing the canvas follows ComfyUI (`ImagePadForOutpaint`).
    """

    # The standard deviation of the Gaussian blur, in pixels of the mask's file. None: that of
    # `default_blur`.
    blur: Annotated[int | None, within(0, 64, "blur of the mask")] = None
    # True if black is painted and white is kept.
    inverted: bool = False
    # None: FILL if the canvas grows, else ORIGINAL.
    content: MaskedContent | None = None
    # True to crop to the mask's surroundings, paint the crop at full size and paste it back.
    only_masked: bool = False
    # The margin of that crop around the mask.
    padding: Annotated[int, within(0, 4096, "padding of the mask")] = 32
    # The growth of the canvas at the left, top, right and bottom; the new area is painted.
    expand: Annotated[
        Margins,
        each_within(0, MAX_SIDE, "margin"),
        summary("canvas grown by {expand}"),
    ] = (0, 0, 0, 0)
    # The width of the gradient by which the painted area fades into the picture there.
    feather: Annotated[int, within(0, 4096)] = 40

    @property
    def expands(self) -> bool:
        """True if the canvas grows."""
        return any(self.expand)


def default_blur(convention: ConventionName | None, options: MaskOptions) -> int:
    """Return the blur to use if a request gives none, in pixels; None is a convention of no tool.

    It is 4 with AUTOMATIC1111's convention, its default; 0 with others and for a growing canvas.
    """
    return _A1111_BLUR if convention is ConventionName.A1111 and not options.expands else 0


def blur_reach(deviation: float) -> int:
    """Return the pixels by which a mask's blur widens it, as A1111's kernel ends."""
    return int(2.5 * deviation + 0.5)


def part_around(painted: Box, padding: int, picture: tuple[int, int], size: tuple[int, int]) -> Box:
    """Return the part of a picture that is cropped where only the masked part is painted.

    It is the painted box with `padding`, made wider or higher to the aspect ratio of `size` within
    the bounds of `picture`, both width and height (A1111's `get_crop_region_v2` and
    `expand_crop_region` in `modules/masking.py`; diffusers' `VaeImageProcessor.get_crop_region`
    does the same).
    """
    left, top = max(painted[0] - padding, 0), max(painted[1] - padding, 0)
    right = min(painted[2] + padding, picture[0])
    bottom = min(painted[3] + padding, picture[1])
    wanted = size[0] / size[1]
    if (right - left) / (bottom - top) > wanted:
        missing = int((right - left) / wanted - (bottom - top))
        top, bottom = _widened(top, bottom, missing, picture[1])
    else:
        missing = int((bottom - top) * wanted - (right - left))
        left, right = _widened(left, right, missing, picture[0])
    return left, top, right, bottom


def _widened(start: int, end: int, by: int, limit: int) -> tuple[int, int]:
    start -= by // 2
    end += by - by // 2
    over = max(end - limit, 0)
    start, end = start - over, end - over
    under = max(-start, 0)
    return start + under, min(end + under, limit)


def default_strength(concat: ConcatChannels, options: MaskOptions, *, masked: bool) -> float:
    """Return the strength to use if a request gives none, from 0 to 1.

    It is 1, a start from pure noise, for editing by instruction, for an inpainting denoiser with
    a mask and for a growing canvas.
    """
    from_noise = (
        concat is ConcatChannels.PICTURE or (concat.takes_mask and masked) or options.expands
    )
    return 1.0 if from_noise else 0.75
