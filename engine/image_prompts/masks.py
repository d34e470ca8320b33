"""Masks of image prompts: where each acts, at the sizes of the denoiser's levels."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.conventions import ImagePrompting
from engine.preprocessors.opencv.resizing import resize_cubic_numbers, resize_linear

Mask = NDArray[np.float32]
# The rows and the columns of a latent that a tile of it has.
Tile = tuple[slice, slice]


def tile_masks(
    mask: Image.Image,
    picture: tuple[int, int],
    cell: int,
    tiles: Sequence[Tile],
    levels: Iterable[int],
    rule: ImagePrompting,
) -> tuple[dict[int, Mask], ...]:
    """Return a greyscale mask for each tile of a picture, by level, as `level_masks` makes it.

    `picture` is the width and height in pixels, and `cell` the side of a latent's cell.
    """
    if len(tiles) == 1:
        cells = picture[1] // cell, picture[0] // cell
        return (level_masks(mask, picture, cells, levels, rule),)
    whole, found = mask.resize(picture, Image.Resampling.BILINEAR), list[dict[int, Mask]]()
    for rows, columns in tiles:
        box = (columns.start, rows.start, columns.stop, rows.stop)
        part = whole.crop(tuple(cell * side for side in box))
        cells = rows.stop - rows.start, columns.stop - columns.start
        found.append(level_masks(part, part.size, cells, levels, rule))
    return tuple(found)


def level_masks(
    mask: Image.Image,
    picture: tuple[int, int],
    cells: tuple[int, int],
    levels: Iterable[int],
    rule: ImagePrompting,
) -> dict[int, Mask]:
    """Return a greyscale mask at each level, float32 [1, rows * columns, 1] from about 0 to 1.

    `picture` is the width and height in pixels, `cells` the rows and columns of the latent, which
    each level halves, rounded up. diffusers' mask is black and white at the picture's size, and
    interpolated by cubic curves (`IPAdapterMaskProcessor`); those of A1111 and ComfyUI keep their
    greys and are interpolated linearly.
    """
    found: dict[int, Mask] = {}
    for level in levels:
        rows, columns = (-(-side // 2**level) for side in cells)
        if rule is ImagePrompting.DIFFUSERS:
            small = resize_cubic_numbers(_two_levels(mask, picture), columns, rows)
        else:
            grey = np.asarray(mask, np.float32) / np.float32(255)
            small = resize_linear(grey[:, :, np.newaxis], columns, rows)
        found[level] = small.astype(np.float32).reshape(1, -1, 1)
    return found


def _two_levels(mask: Image.Image, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return a mask at a size, [height, width, 1], where a pixel is 0 or 1."""
    whole = np.asarray(mask.resize(size, Image.Resampling.LANCZOS), np.float32) / 255
    return (whole >= 0.5).astype(np.float64)[:, :, np.newaxis]
