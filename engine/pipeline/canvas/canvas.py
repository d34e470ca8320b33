"""The canvas of a job: a picture, the part to paint, and how the result goes back into it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from backends.base import Array
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.record import ResolvedRequest
from engine.api.remedies import InvertMask
from engine.api.values import ErrorCode, InputRole
from engine.errors import EngineError
from engine.pipeline.canvas.masks import (
    Box,
    CellMask,
    blurred,
    cell_mask,
    covering,
    filled,
    fitted,
    is_painted,
    surroundings,
    without_masked,
)
from engine.pipeline.canvas.pictures import as_samples, read_mask, read_picture

_LANCZOS = Image.Resampling.LANCZOS
_GREY = (128, 128, 128)
Margins = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Overlay:
    """The kept part of a picture, RGBA, to be laid over the result.

    `box` is where that belongs; None where it is the whole.
    """

    kept: Image.Image
    box: Box | None = None

    def over(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A picture uint8 [height, width, 3] with what is kept (A1111 `apply_overlay`)."""
        made = Image.fromarray(pixels)
        if self.box is not None:
            left, top, right, bottom = self.box
            whole = Image.new("RGBA", self.kept.size)
            whole.paste(covering(made, right - left, bottom - top), (left, top))
            made = whole
        result = made.convert("RGBA")
        result.alpha_composite(self.kept)
        return np.asarray(result.convert("RGB"))


@dataclass(frozen=True, slots=True)
class Canvas:
    """A picture as the networks see it, float32 [1, 3, height, width] in [-1, 1].

    `mask` is in its cells; `painted`, bool [height, width], in its pixels. None: all of it is.
    """

    picture: Array
    mask: CellMask | None = None
    painted: NDArray[np.bool_] | None = None
    overlay: Overlay | None = None

    @property
    def hidden(self) -> Array:
        """The picture with grey where it is painted."""
        if self.painted is None:
            return np.zeros_like(self.picture)
        return self.picture * ~self.painted


def read_canvas(request: ResolvedRequest, downscale: int) -> Canvas | None:
    """Read the picture that a request paints over; None where it starts from nothing.

    `downscale` is the side of a latent's cell in pixels. A mask of another size than the picture
    is scaled to it, as in all the tools. Raises EngineError: INPUT_IMAGE_UNREADABLE, or
    REQUEST_INVALID for a mask that paints nothing.
    """
    paths = {image.role: Path(image.path) for image in request.inputs}
    if InputRole.INIT not in paths:
        return None
    picture, options = read_picture(paths[InputRole.INIT]), request.mask_options
    size = request.width, request.height
    if InputRole.MASK not in paths and not options.expands:
        return Canvas(as_samples(picture.resize(size, _LANCZOS)))
    mask = _mask(paths.get(InputRole.MASK), options, picture.size)
    if options.expands:
        picture, mask = expanded(picture, mask, options.expand, options.feather)
    pasted = request.convention.pastes_kept
    if options.only_masked and (box := surroundings(mask, options.padding, *size)) is not None:
        overlay = Overlay(without_masked(picture, mask).convert("RGBA"), box)
        picture, mask = fitted(picture.crop(box), *size), fitted(mask.crop(box), *size)
    else:
        picture, mask = picture.resize(size, _LANCZOS), mask.resize(size, _LANCZOS)
        overlay = Overlay(_pasted(picture, mask)) if pasted else None
    cells = cell_mask(mask, request.convention.masking, downscale)
    if not cells.blended.any():
        raise _paints_nothing(paths.get(InputRole.MASK), downscale)
    if options.content is not MaskedContent.ORIGINAL:
        picture = filled(picture, mask)
    return Canvas(as_samples(picture), cells, is_painted(mask), overlay)


def grown(size: tuple[int, int], expand: Margins, multiple: int) -> Margins:
    """Margins that make both sides multiples: those that grow anyway do so a little more.

    A side without margins grows at its end.
    """
    left, top, right, bottom = expand
    width, height = -(size[0] + left + right) % multiple, -(size[1] + top + bottom) % multiple
    if left and not right:
        left += width
    else:
        right += width
    if top and not bottom:
        top += height
    else:
        bottom += height
    return left, top, right, bottom


def expanded(
    picture: Image.Image, mask: Image.Image, expand: Margins, feather: int
) -> tuple[Image.Image, Image.Image]:
    """A larger canvas with the picture in it, and its mask (ComfyUI `ImagePadForOutpaint`).

    What is new is grey and masked; the mask reaches into the picture by the square of how near it
    is to what is new, over `feather` pixels, if the picture is more than twice as wide and high.
    """
    left, top, right, bottom = expand
    width, height = picture.size
    rows, columns = np.arange(height)[:, np.newaxis], np.arange(width)
    near = np.full((height, width), np.inf)
    for grows, distance in (
        (left, columns),
        (top, rows),
        (right, width - columns),
        (bottom, height - rows),
    ):
        if grows:
            near = np.minimum(near, distance)
    seam = np.zeros((height, width))
    if 0 < 2 * feather < min(width, height):
        seam = np.clip((feather - near) / feather, 0, 1) ** 2
    size = width + left + right, height + top + bottom
    canvas, covered = Image.new("RGB", size, _GREY), Image.new("L", size, 255)
    canvas.paste(picture, (left, top))
    inner = np.maximum(np.asarray(mask), np.rint(seam * 255)).astype(np.uint8)
    covered.paste(Image.fromarray(inner), (left, top))
    return canvas, covered


def _mask(path: Path | None, options: MaskOptions, size: tuple[int, int]) -> Image.Image:
    """The mask of a picture of this size; that of a picture that only grows is black."""
    if path is None:
        return Image.new("L", size, 0)
    mask = read_mask(path)
    if options.inverted:
        mask = ImageOps.invert(mask)
    # Where it belongs to pixels of the picture; elsewhere both are scaled to the same size.
    if options.only_masked or options.expands:
        mask = mask.resize(size, _LANCZOS)
    return blurred(mask, options.blur or 0)


def _pasted(picture: Image.Image, mask: Image.Image) -> Image.Image:
    """The kept part of the whole; half masked is masked (A1111 doubles the mask for this)."""
    doubled = np.minimum(2 * np.asarray(mask, np.uint16), 255).astype(np.uint8)
    return without_masked(picture, Image.fromarray(doubled)).convert("RGBA")


def _paints_nothing(path: Path | None, downscale: int) -> EngineError:
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        f"Nothing would be painted: the mask {path} is black, or white only in spots that are "
        f"smaller than {downscale} pixels.",
        "White is painted and black is kept.",
        remedies=(InvertMask(),),
    )
