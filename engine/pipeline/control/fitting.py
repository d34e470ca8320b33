"""Maps brought to a picture's size as sd-webui-controlnet does (`detectmap_proc`).

Maps are uint8 [height, width, 3]. A binary map stays binary, and one of few colours keeps them.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.control import ControlResize
from engine.api.control_rules import MapResampling
from engine.preprocessors.opencv.resizing import resize_area, resize_cubic, resize_nearest
from engine.preprocessors.scales import Pixels

Resize = Callable[[Pixels, int, int], Pixels]
# Levels that a binary map's colours are below and above, and the most colours of a flat one.
_DARK, _LIGHT, _FEW = 16, 240, 200
_LEVELS = 256


def fitted_map(
    picture: Pixels, size: tuple[int, int], mode: ControlResize, resampling: MapResampling
) -> Pixels:
    """Return a map of this width and height: stretched, cropped, or with borders."""
    resize, (width, height) = _RESIZES[resampling], size
    if picture.shape[1::-1] == size:
        return picture
    if mode is ControlResize.STRETCH:
        return resize(picture, width, height)
    scales = height / picture.shape[0], width / picture.shape[1]
    scale = min(scales) if mode is ControlResize.FILL else max(scales)
    inner = (max(1, round(side * scale)) for side in picture.shape[1::-1])
    made = resize(picture, *inner)
    if mode is ControlResize.CROP:
        top, left = ((made.shape[0] - height) // 2, (made.shape[1] - width) // 2)
        return made[max(top, 0) : max(top, 0) + height, max(left, 0) : max(left, 0) + width]
    whole = np.empty((height, width, 3), np.uint8)
    whole[:] = _border_colour(picture)
    top, left = (height - made.shape[0]) // 2, (width - made.shape[1]) // 2
    whole[top : top + made.shape[0], left : left + made.shape[1]] = made
    return whole


def _border_colour(picture: Pixels) -> Pixels:
    edges = picture[0], picture[-1], picture[:, 0], picture[:, -1]
    return np.median(np.concatenate(edges), axis=0).astype(np.uint8)


def _by_content(picture: Pixels, width: int, height: int) -> Pixels:
    """Resize a map by the number of its colours (`high_quality_resize`)."""
    if picture.shape[:2] == (height, width):
        return picture
    colours = len(np.unique(picture.reshape(-1, 3), axis=0))
    shrinks = width * height < picture.shape[0] * picture.shape[1]
    resize: Resize = resize_area if shrinks else resize_cubic
    if 2 < colours < _FEW:
        return resize_nearest(picture, width, height)
    binary = colours == 2 and picture.min() < _DARK and picture.max() > _LIGHT
    made = resize(picture, width, height)
    if not binary:
        return made
    grey = made.astype(np.float32).mean(axis=2).astype(np.uint8)
    black_or_white = (grey > otsu_threshold(grey)).astype(np.uint8) * np.uint8(255)
    return np.repeat(black_or_white[:, :, None], 3, axis=2)


def otsu_threshold(grey: NDArray[np.uint8]) -> int:
    """Return the level that separates a grey picture's pixels best into two classes (Otsu 1979)."""
    counts = np.bincount(grey.ravel(), minlength=_LEVELS).astype(np.float64)
    levels = np.arange(_LEVELS)
    below = np.cumsum(counts)
    above = counts.sum() - below
    sums = np.cumsum(counts * levels)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = sums / below - (sums[-1] - sums) / above
        variance = np.nan_to_num(below * above * apart**2)
    return int(variance.argmax())


def _nearest(picture: Pixels, width: int, height: int) -> Pixels:
    """Resize by the pixel whose centre is nearest (PyTorch's "nearest-exact")."""
    rows, columns = (
        np.minimum(((np.arange(after) + 0.5) * (before / after)).astype(np.int64), before - 1)
        for before, after in ((picture.shape[0], height), (picture.shape[1], width))
    )
    return picture[rows][:, columns]


def _lanczos(picture: Pixels, width: int, height: int) -> Pixels:
    return np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.LANCZOS))


_RESIZES: Mapping[MapResampling, Resize] = {
    MapResampling.BY_CONTENT: _by_content,
    MapResampling.NEAREST: _nearest,
    MapResampling.LANCZOS: _lanczos,
}
