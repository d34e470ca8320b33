"""Maps brought to a picture's size, as sd-webui-controlnet (`detectmap_proc`) and ComfyUI do.

Maps are [height, width, channels], uint8, or float32 with a mask for a fourth channel. A binary map
stays binary, thin lines stay thin, and a map of few colours keeps them.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backends.base import Array
from engine.api.control import ControlResize
from engine.api.control_rules import MapResampling
from engine.pipeline.canvas.canvas import Part
from engine.pipeline.canvas.growth import Place
from engine.pipeline.canvas.masks import covering, fitted
from engine.preprocessors.opencv.resizing import (
    resize_area,
    resize_area_numbers,
    resize_cubic,
    resize_cubic_numbers,
    resize_linear,
    resize_nearest,
)
from engine.preprocessors.opencv.thinning import opened, ridges, thinned
from engine.preprocessors.scales import Pixels, on_three_channels

Resize = Callable[[Array, int, int], Array]
# Levels that a binary map's colours are below and above, and the most colours of a flat one.
_DARK, _LIGHT, _FEW = 16, 240, 200
_LEVELS, _MIDDLE = 256, 127
# The share of either class below which Otsu's method looks at no threshold.
_LEAST_SHARE = float(np.finfo(np.float32).eps)


def fitted_map(
    picture: Pixels, size: tuple[int, int], mode: ControlResize, resampling: MapResampling
) -> Pixels:
    """Return a map of this width and height: stretched, cropped, or with borders."""
    if picture.shape[1::-1] == size:
        return picture
    resize = _RESIZES[resampling]
    if resampling is MapResampling.NEAREST and mode is ControlResize.CROP:
        return resize(_centre(picture, size), *size)
    return _laid_out(picture, size, mode, resize, _border_colour(picture))


def placed_map(
    picture: Pixels, place: Place, size: tuple[int, int], resampling: MapResampling
) -> Pixels:
    """Return a start picture's map on a grown canvas of this width and height, where that lies.

    Around it is the colour of its borders, as around one that does not fill the size.
    """
    left, top, right, bottom = place.at(size)
    whole = np.empty((size[1], size[0], picture.shape[2]), picture.dtype)
    whole[:] = _border_colour(picture)
    whole[top:bottom, left:right] = _RESIZES[resampling](picture, right - left, bottom - top)
    return whole


def part_of(picture: Image.Image, part: Part, mode: ControlResize) -> Image.Image:
    """Return what a layer's picture shows of the part of a canvas that is drawn alone.

    It is laid over the whole canvas first (`try_crop_image_with_a1111_mask` of
    sd-webui-controlnet).
    """
    match mode:
        case ControlResize.STRETCH:
            whole = picture.resize(part.whole, Image.Resampling.LANCZOS)
        case ControlResize.CROP:
            whole = covering(picture, *part.whole)
        case ControlResize.FILL:
            whole = fitted(picture, *part.whole)
    return part.of(whole)


def fitted_painting(
    picture: Pixels,
    mask: Image.Image,
    size: tuple[int, int],
    mode: ControlResize,
    resampling: MapResampling,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return what an inpainting network sees: levels from about 0 to 255, and where it paints.

    The mask, white where it paints, is brought to the picture's size and then goes with it; what
    surrounds a picture that does not fill the size is painted. Levels are not rounded, as in
    sd-webui-controlnet.
    """
    whole = _with_mask(picture, mask, size, mode, resampling)
    return whole[:, :, :3], whole[:, :, 3] > _MIDDLE


def kept_cells(
    picture: Pixels,
    mask: Image.Image,
    size: tuple[int, int],
    cell: int,
    mode: ControlResize,
    resampling: MapResampling,
) -> NDArray[np.float32]:
    """Return the mask that an inpainting network sees beside a latent, float32 [rows, columns].

    It is 1 where the picture is kept and 0 where it is painted. A cell of the latent, `cell` pixels
    wide, is as its first pixel (`prepare_image_with_mask` of alimama's pipelines). ComfyUI brings
    the mask to the latent's size and leaves its greys (`ControlNet.get_control`).
    """
    if resampling is MapResampling.NEAREST:
        cells = size[0] // cell, size[1] // cell
        grey = _with_mask(picture, mask, cells, mode, resampling)[:, :, 3]
        return np.float32(1) - grey / np.float32(_LEVELS - 1)
    _, painted = fitted_painting(picture, mask, size, mode, resampling)
    return (~painted[::cell, ::cell]).astype(np.float32)


def _with_mask(
    picture: Pixels,
    mask: Image.Image,
    size: tuple[int, int],
    mode: ControlResize,
    resampling: MapResampling,
) -> NDArray[np.float32]:
    """Return a picture of a size with its mask for a fourth channel; see `fitted_painting`."""
    grey = np.asarray(mask, np.float32)[:, :, np.newaxis]
    if grey.shape[:2] != picture.shape[:2]:
        grey = resize_linear(grey, *picture.shape[1::-1])
    whole = np.concatenate([picture.astype(np.float32), grey], axis=2)
    if picture.shape[1::-1] != size:
        resize = _painting_resize(_RESIZES[resampling], resampling)
        if resampling is MapResampling.NEAREST and mode is ControlResize.CROP:
            whole = resize(_centre(whole, size), *size)
        else:
            border = _border_colour(whole)
            border[3] = _LEVELS - 1
            whole = _laid_out(whole, size, mode, resize, border)
    return whole


def _laid_out(
    picture: Array, size: tuple[int, int], mode: ControlResize, resize: Resize, border: Array
) -> Array:
    """Return a picture that is stretched to a size, cropped to it, or set into a border."""
    width, height = size
    if mode is ControlResize.STRETCH:
        return resize(picture, width, height)
    scales = height / picture.shape[0], width / picture.shape[1]
    scale = min(scales) if mode is ControlResize.FILL else max(scales)
    inner = (max(1, round(side * scale)) for side in picture.shape[1::-1])
    made = resize(picture, *inner)
    if mode is ControlResize.CROP:
        top, left = ((made.shape[0] - height) // 2, (made.shape[1] - width) // 2)
        return made[max(top, 0) : max(top, 0) + height, max(left, 0) : max(left, 0) + width]
    whole = np.empty((height, width, len(border)), picture.dtype)
    whole[:] = border
    top, left = (height - made.shape[0]) // 2, (width - made.shape[1]) // 2
    whole[top : top + made.shape[0], left : left + made.shape[1]] = made
    return whole


def _centre(picture: Array, size: tuple[int, int]) -> Array:
    """Return the middle part of a picture that has the shape of a size (`common_upscale`)."""
    height, width = picture.shape[:2]
    before, after = width / height, size[0] / size[1]
    left = round((width - width * (after / before)) / 2) if before > after else 0
    top = round((height - height * (before / after)) / 2) if before < after else 0
    return picture[top : height - top, left : width - left]


def _border_colour(picture: Array) -> Array:
    edges = picture[0], picture[-1], picture[:, 0], picture[:, -1]
    return np.median(np.concatenate(edges), axis=0).astype(picture.dtype)


def _by_content(picture: Array, width: int, height: int) -> Array:
    """Resize a map by what it shows (`high_quality_resize`)."""
    if picture.shape[:2] == (height, width):
        return picture
    made = _interpolation(picture, width, height)(picture, width, height)
    if _colours(picture) != 2 or picture.min() >= _DARK or picture.max() <= _LIGHT:
        return made
    grey = made.astype(np.float32).mean(axis=2).clip(0, 255).astype(np.uint8)
    if not _is_thin(picture):
        return _black_or_white(grey > otsu_threshold(grey), picture)
    grey = ridges(grey)
    grows = width * height > picture.shape[0] * picture.shape[1]
    return _black_or_white(thinned(grey > otsu_threshold(grey), prunes=grows), picture)


def _interpolation(picture: Array, width: int, height: int) -> Resize:
    if 2 < _colours(picture) < _FEW:
        return resize_nearest
    return _area if width * height < picture.shape[0] * picture.shape[1] else _cubic


def _area(picture: Array, width: int, height: int) -> Array:
    if picture.dtype == np.uint8:
        return resize_area(picture, width, height)
    return resize_area_numbers(picture, width, height)


def _cubic(picture: Array, width: int, height: int) -> Array:
    if picture.dtype == np.uint8:
        return resize_cubic(picture, width, height)
    return resize_cubic_numbers(picture.astype(np.float64), width, height).astype(np.float32)


def _colours(picture: Array) -> int:
    levels = picture.astype(np.int64) @ np.array([_LEVELS**2, _LEVELS, 1])
    return len(np.unique(levels))


def _is_thin(picture: Array) -> bool:
    """Tell whether most of what a binary map shows is narrower than three pixels."""
    lost = np.count_nonzero(opened(picture) < picture)
    return bool(lost * 2 > np.count_nonzero(picture > _MIDDLE))


def _black_or_white(where: NDArray[np.bool_], like: Array) -> Array:
    return on_three_channels(where.astype(np.uint8) * np.uint8(255)).astype(like.dtype)


def otsu_threshold(grey: NDArray[np.uint8]) -> int:
    """Return the level that separates a grey picture's pixels best into two classes (Otsu 1979).

    The order of the sums is OpenCV's (`getThreshVal_Otsu_8u`), on which ties depend.
    """
    shares = np.bincount(grey.ravel(), minlength=_LEVELS) * (1.0 / grey.size)
    counts = np.bincount(grey.ravel(), minlength=_LEVELS)
    mean = sum(level * float(count) for level, count in enumerate(counts)) * (1.0 / grey.size)
    below = share = greatest = 0.0
    best = 0
    for level, part in enumerate(shares.tolist()):
        below *= share
        share += part
        if min(share, 1.0 - share) < _LEAST_SHARE or max(share, 1.0 - share) > 1.0 - _LEAST_SHARE:
            continue
        below = (below + level * part) / share
        above = (mean - share * below) / (1.0 - share)
        variance = share * (1.0 - share) * (below - above) * (below - above)
        if variance > greatest:
            greatest, best = variance, level
    return best


def _nearest(picture: Array, width: int, height: int) -> Array:
    """Resize by the pixel whose centre is nearest (PyTorch's "nearest-exact")."""
    rows, columns = (
        np.minimum(((np.arange(after) + 0.5) * (before / after)).astype(np.int64), before - 1)
        for before, after in ((picture.shape[0], height), (picture.shape[1], width))
    )
    return picture[rows][:, columns]


def _lanczos(picture: Array, width: int, height: int) -> Array:
    levels = Image.fromarray(picture.astype(np.uint8))
    made = np.asarray(levels.resize((width, height), Image.Resampling.LANCZOS))
    return made.astype(picture.dtype)


def _painting_resize(resize: Resize, resampling: MapResampling) -> Resize:
    """Return the resize of a picture with its mask behind, for one of a picture alone."""

    def resized(whole: Array, width: int, height: int) -> Array:
        picture, mask = whole[:, :, :3], whole[:, :, 3:]
        alone: Resize = {
            MapResampling.BY_CONTENT: _interpolation(picture, width, height),
            MapResampling.NEAREST: _nearest,
            MapResampling.LANCZOS: resize_linear,
        }[resampling]
        made = alone(mask, width, height).reshape(height, width, 1)
        return np.concatenate([resize(picture, width, height), made], axis=2)

    return resized


_RESIZES: Mapping[MapResampling, Resize] = {
    MapResampling.BY_CONTENT: _by_content,
    MapResampling.NEAREST: _nearest,
    MapResampling.LANCZOS: _lanczos,
}
