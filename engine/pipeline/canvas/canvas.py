"""The canvas of a job: the picture to redraw, its mask, and the kept part laid over the result."""

from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from backends.base import Array
from engine.api.masks import Margins, MaskedContent, MaskOptions
from engine.api.record import ResolvedRequest
from engine.api.remedies import InvertMask
from engine.api.sentences import sentence
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


class Overlay(msgspec.Struct, frozen=True):
    """The kept part of a picture, RGBA, to be laid over the result.

    `box` is the part of the picture that was redrawn; None if all of it was.
    """

    kept: Image.Image
    box: Box | None = None

    def over(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return a result, uint8 [height, width, 3], with the kept part laid over it.

        The same as A1111's `apply_overlay`.
        """
        made = Image.fromarray(pixels)
        if self.box is not None:
            left, top, right, bottom = self.box
            whole = Image.new("RGBA", self.kept.size)
            whole.paste(covering(made, right - left, bottom - top), (left, top))
            made = whole
        result = made.convert("RGBA")
        result.alpha_composite(self.kept)
        return np.asarray(result.convert("RGB"))


class Part(msgspec.Struct, frozen=True):
    """The part of a picture that is redrawn alone: its box, and the size of the whole picture.

    `size` is the width and height at which the part is drawn, `whole` that of the picture.
    """

    box: Box
    whole: tuple[int, int]
    size: tuple[int, int]

    def of(self, picture: Image.Image) -> Image.Image:
        """Return the part of a picture that is as large as the whole, as it is drawn."""
        return fitted(picture.crop(self.box), *self.size)


class Canvas(msgspec.Struct, frozen=True):
    """A picture to redraw, float32 [1, 3, height, width] in [-1, 1], and the part to paint.

    `mask` is the part to paint in cells of the latent, `painted` in pixels, bool [height, width].
    Both are None where the whole picture is painted. `part` is None where all of it is redrawn.
    """

    picture: Array
    mask: CellMask | None = None
    painted: NDArray[np.bool_] | None = None
    overlay: Overlay | None = None
    part: Part | None = None

    @property
    def hidden(self) -> Array:
        """The picture with its painted pixels replaced by grey."""
        if self.painted is None:
            return np.zeros_like(self.picture)
        return self.picture * ~self.painted


def read_canvas(request: ResolvedRequest, downscale: int) -> Canvas | None:
    """Read the picture that a request redraws; None for a request without a start picture.

    `downscale` is the side of a latent's cell in pixels. A mask of another size than the picture
    is scaled to it, as in all the tools. Raises EngineError: INPUT_IMAGE_UNREADABLE, or
    REQUEST_INVALID for a mask that paints nothing.
    """
    paths = {image.role: Path(image.path) for image in request.inputs}
    if InputRole.INIT not in paths:
        return None
    size, options = (request.width, request.height), request.mask_options
    if options.expands:
        picture, mask = grown_start(request)
    else:
        picture = read_picture(paths[InputRole.INIT])
        if InputRole.MASK not in paths:
            return Canvas(as_samples(picture.resize(size, _LANCZOS)))
        mask = _mask(paths[InputRole.MASK], options, picture.size)
    pasted, part = request.convention.pastes_kept, None
    if options.only_masked and (box := surroundings(mask, options.padding, *size)) is not None:
        overlay = Overlay(without_masked(picture, mask).convert("RGBA"), box)
        part = Part(box, picture.size, size)
        picture, mask = part.of(picture), part.of(mask)
    else:
        picture, mask = picture.resize(size, _LANCZOS), mask.resize(size, _LANCZOS)
        overlay = Overlay(_pasted(picture, mask)) if pasted else None
    cells = cell_mask(mask, request.convention.masking, downscale)
    if not cells.blended.any():
        raise _paints_nothing(paths.get(InputRole.MASK), downscale)
    if options.content is not MaskedContent.ORIGINAL:
        picture = filled(picture, mask)
    return Canvas(as_samples(picture), cells, is_painted(mask), overlay, part)


def grown(size: tuple[int, int], expand: Margins, multiple: int) -> Margins:
    """Return the margins `expand`, enlarged so that width and height are multiples of `multiple`.

    The extra pixels go to a margin that is there already, else to the right or the bottom.
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
    """Return a larger canvas with the picture in it, and its mask (ComfyUI `ImagePadForOutpaint`).

    The margins are grey and masked. If the picture is more than twice as wide and high as
    `feather`, the mask fades into it over `feather` pixels, as the square of the nearness.
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


def painted_levels(request: ResolvedRequest) -> Image.Image | None:
    """Return a request's mask at its own size, "L", white where it paints; None without one.

    That of a canvas that grows has its size. Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    if request.mask_options.expands:
        return grown_start(request)[1]
    paths = (Path(image.path) for image in request.inputs if image.role is InputRole.MASK)
    path = next(paths, None)
    return None if path is None else _as_painted(path, request.mask_options)


def grown_start(request: ResolvedRequest) -> tuple[Image.Image, Image.Image]:
    """Return the start picture on the canvas that grows around it, and the mask of both.

    Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    paths = {image.role: Path(image.path) for image in request.inputs}
    picture, options = read_picture(paths[InputRole.INIT]), request.mask_options
    mask = _mask(paths.get(InputRole.MASK), options, picture.size)
    return expanded(picture, mask, options.expand, options.feather)


def _as_painted(
    path: Path, options: MaskOptions, size: tuple[int, int] | None = None
) -> Image.Image:
    """Return a mask white where it paints, at this width and height or at its own."""
    mask = read_mask(path)
    if options.inverted:
        mask = ImageOps.invert(mask)
    return blurred(mask if size is None else mask.resize(size, _LANCZOS), options.blur or 0)


def _mask(path: Path | None, options: MaskOptions, size: tuple[int, int]) -> Image.Image:
    """Return the mask of a picture of this size; all black where there is no mask file."""
    if path is None:
        return Image.new("L", size, 0)
    # Cropping and growing need a mask pixel for each pixel; else both are resized alike later.
    needs_all = options.only_masked or options.expands
    return _as_painted(path, options, size if needs_all else None)


def _pasted(picture: Image.Image, mask: Image.Image) -> Image.Image:
    """Return the kept part of a whole picture, RGBA; a half masked pixel counts as fully masked.

    A1111 doubles the mask's values for this, too.
    """
    doubled = np.minimum(2 * np.asarray(mask, np.uint16), 255).astype(np.uint8)
    return without_masked(picture, Image.fromarray(doubled)).convert("RGBA")


def _paints_nothing(path: Path | None, downscale: int) -> EngineError:
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence(
            "Nothing would be painted: the mask {path} is black, or white only in "
            "spots that are smaller than {downscale} pixels.",
            path=path,
            downscale=downscale,
        ),
        sentence("White is painted and black is kept."),
        remedies=(InvertMask(),),
    )
