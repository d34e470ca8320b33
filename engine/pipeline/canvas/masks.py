"""Operations on masks: blurring, cropping around one, filling one in, reducing one to latent cells.

Masks are greyscale Pillow images (mode "L"); white is the part to paint.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter, ImageOps

from engine.api.conventions import Masking
from engine.api.masks import Box, blur_reach, part_around
from engine.sampling.types import Latent

_LANCZOS = Image.Resampling.LANCZOS
# The lowest level of a painted pixel, where pixels are either painted or kept.
_HALF = 128
# The blur's radius, and the number of times that the blurred layer is laid over
# (`modules/masking.py:fill`).
_FILL = ((256, 1), (64, 1), (16, 2), (4, 4), (2, 2), (0, 1))


def blurred(mask: Image.Image, deviation: int) -> Image.Image:
    """Blur a mask as A1111 does with OpenCV: by rows, then by columns, each rounded to 8 bits.

    `deviation` is the standard deviation of the Gaussian in pixels.
    """
    if deviation == 0:
        return mask
    reach = blur_reach(deviation)
    places = np.arange(-reach, reach + 1)
    kernel = np.exp(-(places**2) / (2 * deviation**2))
    kernel /= kernel.sum()
    pixels = np.asarray(mask, np.float64)
    for axis in (1, 0):
        margins = [(0, 0), (0, 0)]
        margins[axis] = (reach, reach)
        padded = np.pad(pixels, margins, mode="reflect")
        size = pixels.shape[axis]
        shifted = (np.take(padded, range(i, i + size), axis) for i in range(len(kernel)))
        total = np.zeros_like(pixels)
        for weight, part in zip(kernel, shifted, strict=True):
            total += weight * part
        pixels = np.rint(total)
    return Image.fromarray(pixels.astype(np.uint8))


def surroundings(mask: Image.Image, padding: int, width: int, height: int) -> Box | None:
    """Return the part of a picture to crop for "only masked" inpainting; None for an empty mask."""
    box = mask.getbbox()
    return box and part_around(box, padding, mask.size, (width, height))


def fitted(image: Image.Image, width: int, height: int) -> Image.Image:
    """Scale a picture to fit within the size, centre it, and stretch its edges over the rest.

    The same as A1111's `images.resize_image` with mode 2.
    """
    wide = image.width * height <= width * image.height
    inner = (image.width * height // image.height, height) if wide else (
        width, image.height * width // image.width,
    )  # fmt: skip
    resized = image.resize(inner, _LANCZOS)
    left, top = width // 2 - inner[0] // 2, height // 2 - inner[1] // 2
    result = Image.new(image.mode, (width, height))
    result.paste(resized, (left, top))
    if top > 0:
        first, last = (0, 0, width, 0), (0, inner[1], width, inner[1])
        result.paste(resized.resize((width, top), box=first), (0, 0))
        result.paste(resized.resize((width, top), box=last), (0, top + inner[1]))
    elif left > 0:
        first, last = (0, 0, 0, height), (inner[0], 0, inner[0], height)
        result.paste(resized.resize((left, height), box=first), (0, 0))
        result.paste(resized.resize((left, height), box=last), (left + inner[0], 0))
    return result


def covering(image: Image.Image, width: int, height: int) -> Image.Image:
    """Scale a picture to cover the size, and crop its centre.

    The same as A1111's `images.resize_image` with mode 1.
    """
    wide = image.width * height > width * image.height
    inner = (image.width * height // image.height, height) if wide else (
        width, image.height * width // image.width,
    )  # fmt: skip
    result = Image.new(image.mode, (width, height))
    place = (width // 2 - inner[0] // 2, height // 2 - inner[1] // 2)
    result.paste(image.resize(inner, _LANCZOS), place)
    return result


def filled(picture: Image.Image, mask: Image.Image) -> Image.Image:
    """Fill the masked part of a picture with blurred surrounding colours; the result is RGB.

    The same as A1111's `fill` in `modules/masking.py`.
    """
    result = Image.new("RGBA", picture.size)
    kept = without_masked(picture, mask)
    for radius, times in _FILL:
        layer = kept.filter(ImageFilter.GaussianBlur(radius)).convert("RGBA")
        for _ in range(times):
            result.alpha_composite(layer)
    return result.convert("RGB")


def without_masked(picture: Image.Image, mask: Image.Image) -> Image.Image:
    """Return a picture as "RGBa" (premultiplied alpha), transparent where the mask is white."""
    result = Image.new("RGBa", picture.size)
    result.paste(picture.convert("RGBA").convert("RGBa"), mask=ImageOps.invert(mask))
    return result


class CellMask(msgspec.Struct, frozen=True, eq=False):
    """A mask in cells of the latent: float32 [1, 1, height, width], 1 in the painted part.

    `blended` is for blending the kept part into the latents; `channel` is the mask channel of an
    inpainting denoiser's input. `pixels` [1, downscale * downscale, height, width] has the pixels
    of each cell, row by row, for a denoiser that takes all of them.
    """

    blended: Latent
    channel: Latent
    pixels: Latent


def is_painted(mask: Image.Image) -> NDArray[np.bool_]:
    """Return the painted pixels, bool [height, width]: the mask thresholded at half."""
    return np.asarray(mask) >= _HALF


def cell_mask(mask: Image.Image, masking: Masking, downscale: int) -> CellMask:
    """Reduce a mask to latent cells, each of `downscale` x `downscale` pixels.

    A1111 blends by Pillow's bicubic reduction, rounded (`StableDiffusionProcessingImg2Img.init`),
    and gives the denoiser each cell's top left pixel. ComfyUI interpolates linearly, which is the
    mean around each cell's centre (`reshape_mask`), and rounds it for the denoiser. diffusers takes
    each cell's top left pixel for both (`prepare_mask_latents`). Single pixels are painted
    or kept, but ComfyUI does not round them (`model_base.Flux.concat_cond`).
    """
    painted = is_painted(mask).astype(np.float32)
    corners, pixels = painted[::downscale, ::downscale], _by_cell(painted, downscale)
    match masking:
        case Masking.A1111:
            size = mask.width // downscale, mask.height // downscale
            reduced = mask.resize(size, Image.Resampling.BICUBIC)
            return CellMask(_as_latent(np.around(_shares(reduced))), _as_latent(corners), pixels)
        case Masking.COMFY:
            middle, pixels = _middles(_shares(mask), downscale), _by_cell(_shares(mask), downscale)
            return CellMask(_as_latent(middle), _as_latent(np.around(middle)), pixels)
        case Masking.DIFFUSERS:
            return CellMask(_as_latent(corners), _as_latent(corners), pixels)


def _shares(mask: Image.Image) -> Latent:
    """Return the mask's values scaled to 0 to 1."""
    return np.asarray(mask, np.float32) / np.float32(255)


def _by_cell(pixels: Latent, downscale: int) -> Latent:
    """Return the pixels of each cell as channels: [1, downscale * downscale, height, width]."""
    rows, columns = pixels.shape[0] // downscale, pixels.shape[1] // downscale
    split = pixels.reshape(rows, downscale, columns, downscale).transpose(1, 3, 0, 2)
    return np.ascontiguousarray(split.reshape(1, downscale**2, rows, columns))


def _as_latent(cells: Latent) -> Latent:
    return np.ascontiguousarray(cells[np.newaxis, np.newaxis])


def _middles(pixels: Latent, downscale: int) -> Latent:
    """Return the mean of the pixels around each cell's centre."""
    before, after = (downscale - 1) // 2, downscale // 2
    rows = (pixels[before::downscale] + pixels[after::downscale]) / 2
    return (rows[:, before::downscale] + rows[:, after::downscale]) / 2
