"""Directions of surfaces, from the depth of a picture (sd-webui-controlnet's `normal_midas`)."""

import math

import numpy as np

from engine.api.map_choices import NormalLayout
from engine.api.preprocessors import NormalOptions
from engine.preprocessors.annotators import LoadedAnnotator, Plane
from engine.preprocessors.networks import nearness
from engine.preprocessors.scales import Pixels, padded, resized

# The third number of each direction before its length becomes 1.
_TOWARDS = math.pi * 2


def normals(picture: Pixels, options: NormalOptions, network: LoadedAnnotator) -> Pixels:
    """Return a colour for each direction. The depth is Depth Anything's, stretched.

    sd-webui-controlnet takes MiDaS's depth as it is, which spans some thousand units.
    """

    def drawn(whole: Pixels) -> Pixels:
        near = nearness(whole, network)
        span = float(near.max())
        deep = near * np.float32(options.depth / (span or 1))
        made = normal_colours(deep, options.background)
        return made if options.layout is NormalLayout.BAE else made[:, :, ::-1]

    return padded(resized(picture, options.resolution), drawn)


def normal_colours(depth: Plane, background: float) -> Pixels:
    """Return colours [height, width, 3] of a depth [height, width] from 0 for the farthest.

    Farther than the share `background` of the way to the nearest, surfaces face the viewer.
    """
    across, down = _slopes(depth)
    far = depth / (depth.max() or np.float32(1)) < background
    across[far] = down[far] = 0
    towards = np.full_like(across, _TOWARDS)
    directions = np.stack([across, down, towards], axis=2)
    directions /= np.sum(directions**2, axis=2, keepdims=True) ** np.float32(0.5)
    return np.clip(directions * np.float32(127.5) + np.float32(127.5), 0, 255).astype(np.uint8)


def _slopes(plane: Plane) -> tuple[Plane, Plane]:
    """Return Sobel's derivatives along x and y; the picture is mirrored beyond its edges."""
    high, wide = plane.shape
    mode = "reflect" if min(high, wide) > 1 else "edge"
    around = np.pad(plane, 1, mode)

    def smoothed(row: int, column: int, down: int, right: int) -> Plane:
        """Return three neighbours in a line, the middle one twice."""
        places = ((row + down * step, column + right * step) for step in range(3))
        first, middle, last = (around[y : y + high, x : x + wide] for y, x in places)
        return (first + np.float32(2) * middle + last).astype(np.float32, copy=False)

    across = smoothed(0, 2, 1, 0) - smoothed(0, 0, 1, 0)
    down = smoothed(2, 0, 0, 1) - smoothed(0, 0, 0, 1)
    return across, down
