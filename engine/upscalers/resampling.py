"""Pictures of any size without a network, on numbers and with the transparent parts in mind.

Lanczos is Pillow's, with three lobes that widen with the step when a picture shrinks. The others
are `torch.nn.functional.interpolate`, by which ComfyUI resizes pictures (`common_upscale` of
`comfy/utils.py`); of these, area alone looks at all pixels when a picture shrinks.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.second_passes import Resampling
from engine.upscalers.interpolation import Interpolation, interpolated
from engine.upscalers.tiles import Floats

_MODES = {
    Resampling.BICUBIC: Interpolation.BICUBIC,
    Resampling.BILINEAR: Interpolation.BILINEAR,
    Resampling.AREA: Interpolation.AREA,
    Resampling.NEAREST: Interpolation.NEAREST_EXACT,
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
    """Return a picture, uint8 [height, width, 3], at a size; Lanczos rounds as Pillow does."""
    if method is Resampling.LANCZOS:
        return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))
    planes = _each(pixels.transpose(2, 0, 1).astype(np.float32), size, method)
    return np.rint(np.clip(planes, 0, 255)).astype(np.uint8).transpose(1, 2, 0)


def _each(planes: Floats, size: tuple[int, int], method: Resampling) -> Floats:
    if method is not Resampling.LANCZOS:
        width, height = size
        return interpolated(planes, (height, width), _MODES[method])
    images = (Image.fromarray(plane).resize(size, Image.Resampling.LANCZOS) for plane in planes)
    return np.stack([np.asarray(image, np.float32) for image in images])
