"""Pictures of any size by Lanczos or by area, on numbers and with the transparent parts in mind.

Pillow's filters: Lanczos with three lobes, and the mean of the area that a pixel covers, which
repeats pixels where a picture grows. Both widen with the step when a picture shrinks.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.second_passes import Resampling
from engine.upscalers.tiles import Floats

_FILTERS = {
    Resampling.LANCZOS: Image.Resampling.LANCZOS,
    Resampling.AREA: Image.Resampling.BOX,
}
# Colours of pixels that are more transparent than this cannot be told from the numbers.
_CLEAR = 1 / 4096


def resampled(planes: Floats, size: tuple[int, int], method: Resampling) -> Floats:
    """Return planes [channels, height, width] at a size, width and height in pixels.

    With four channels the last is the opacity, by which colours are weighed: what is transparent
    does not shine through at edges.
    """
    if planes.shape[:0:-1] == size:
        return planes
    if len(planes) != 4:
        return _each(planes, size, method)
    colours, opacity = planes[:3], planes[3:]
    weighed = _each(np.concatenate([colours * opacity, opacity]), size, method)
    shown = np.maximum(weighed[3:], _CLEAR)
    # Where nothing shows, the colours are those of the picture all the same.
    plain = _each(colours, size, method)
    return np.concatenate([np.where(weighed[3:] > _CLEAR, weighed[:3] / shown, plain), weighed[3:]])


def resampled_levels(
    pixels: NDArray[np.uint8], size: tuple[int, int], method: Resampling
) -> NDArray[np.uint8]:
    """Return a picture, uint8 [height, width, 3], at a size, rounded as Pillow rounds it."""
    return np.asarray(Image.fromarray(pixels).resize(size, _FILTERS[method]))


def _each(planes: Floats, size: tuple[int, int], method: Resampling) -> Floats:
    resized = (Image.fromarray(plane).resize(size, _FILTERS[method]) for plane in planes)
    return np.stack([np.asarray(plane, np.float32) for plane in resized])
