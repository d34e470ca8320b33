"""Planes at another size: `torch.nn.functional.interpolate` and ComfyUI's "bislerp", in NumPy.

All modes of torch are separable, so each tells for one axis of what cells a new cell is the sum,
and by what weights. After `UpSampleKernel.cpp` of PyTorch 2 with `align_corners=False`.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.float32]
Cells = NDArray[np.int64]
Weights = NDArray[np.float64]
# ComfyUI takes cosines closer to 1 or -1 than this for equal or opposite vectors.
_ALMOST = 1e-5


class _Sums(NamedTuple):
    """The old cells that each new cell along an axis is a sum of, and their weights.

    Both are [new cells, cells in a sum]; what a sum has fewer of weighs nothing.
    """

    cells: Cells
    weights: Weights


class Interpolation(StrEnum):
    """The modes by which planes are made larger or smaller."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BILINEAR_ANTIALIASED = "bilinear-antialiased"
    BICUBIC = "bicubic"
    BICUBIC_ANTIALIASED = "bicubic-antialiased"
    AREA = "area"
    BISLERP = "bislerp"


def interpolated(planes: Planes, cells: tuple[int, int], mode: Interpolation) -> Planes:
    """Return planes [..., height, width] at a height and a width in cells.

    "Bislerp" takes a latent [batch, channels, height, width] and looks at all channels at once.
    """
    if planes.shape[-2:] == cells:
        return planes
    if mode is Interpolation.BISLERP:
        return _bislerp(planes, cells)
    sums = _SUMS[mode]
    for axis, after in zip((-2, -1), cells, strict=True):
        planes = _summed(planes, sums(planes.shape[axis], after), axis)
    return np.ascontiguousarray(planes)


def _summed(planes: Planes, sums: _Sums, axis: int) -> Planes:
    shape = (-1, 1) if axis == -2 else (-1,)
    made: Planes | None = None
    for cells, weights in zip(sums.cells.T, sums.weights.T.astype(np.float32), strict=True):
        part = np.take(planes, cells, axis)
        part *= weights.reshape(shape)
        made = part if made is None else np.add(made, part, out=made)
    assert made is not None
    return made


def _nearest(before: int, after: int) -> _Sums:
    # torch computes the step in float32.
    step = np.float32(before) / np.float32(after)
    return _picked(np.floor(np.arange(after, dtype=np.float32) * step), before)


def _nearest_exact(before: int, after: int) -> _Sums:
    step = np.float32(before) / np.float32(after)
    centres = np.arange(after, dtype=np.float32) + np.float32(0.5)
    return _picked(np.floor(centres * step), before)


def _picked(places: NDArray[np.float32], before: int) -> _Sums:
    cells = np.minimum(places.astype(np.int64), before - 1)[:, np.newaxis]
    return _Sums(cells, np.ones(cells.shape))


def _bilinear(before: int, after: int) -> _Sums:
    first, share = _places(np.maximum(_centres(before, after), 0))
    following = np.minimum(first + 1, before - 1)
    return _Sums(np.stack([first, following], 1), np.stack([1 - share, share], 1))


def _centres(before: int, after: int) -> Weights:
    """Return the places of new cells among the old ones, whose centres are whole numbers."""
    return (np.arange(after, dtype=np.float64) + 0.5) * (before / after) - 0.5


def _places(centres: Weights) -> tuple[Cells, Weights]:
    """Return the cells at or before these places, and the distances from them."""
    first = np.floor(centres)
    return first.astype(np.int64), centres - first


def _bicubic(before: int, after: int) -> _Sums:
    first, share = _places(_centres(before, after))
    around = np.arange(-1, 3)
    cells = np.clip(first[:, np.newaxis] + around, 0, before - 1)
    return _Sums(cells, _cubic(share[:, np.newaxis] - around, sharpness=-0.75))


def _antialiased(kernel: Callable[[Weights], Weights], reach: int) -> Callable[[int, int], _Sums]:
    """Return the sums of a kernel that widens with the step when planes shrink."""

    def sums(before: int, after: int) -> _Sums:
        step = before / after
        wide = max(step, 1.0)
        centres = step * (np.arange(after) + 0.5)
        first = np.maximum((centres - reach * wide + 0.5).astype(np.int64), 0)
        end = np.minimum((centres + reach * wide + 0.5).astype(np.int64), before)
        cells, is_summed = _runs(first, end)
        weights = kernel((cells - centres[:, np.newaxis] + 0.5) / wide) * is_summed
        return _Sums(cells, weights / weights.sum(1, keepdims=True))

    return sums


def _runs(first: Cells, end: Cells) -> tuple[Cells, NDArray[np.bool_]]:
    """Return runs of cells, the last repeated up to the longest, and which are not repeated."""
    longest, ends = int((end - first).max()), end[:, np.newaxis]
    cells = first[:, np.newaxis] + np.arange(longest, dtype=np.int64)
    return np.minimum(cells, ends - 1), cells < ends


def _triangle(distance: Weights) -> Weights:
    return np.maximum(1 - np.abs(distance), 0)


def _smooth_cubic(distance: Weights) -> Weights:
    return _cubic(distance, sharpness=-0.5)


def _cubic(distance: Weights, *, sharpness: float) -> Weights:
    """Return Keys's cubic convolution kernel (Keys 1981) at distances in cells."""
    x = np.abs(distance)
    inner = ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1
    outer = ((x - 5) * x + 8) * x * sharpness - 4 * sharpness
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0))


def _area(before: int, after: int) -> _Sums:
    """Return the means of `adaptive_avg_pool2d`, whose areas are whole cells."""
    rows = np.arange(after, dtype=np.int64)
    first, end = rows * before // after, -(-(rows + 1) * before // after)
    cells, is_summed = _runs(first, end)
    return _Sums(cells, is_summed / (end - first)[:, np.newaxis])


_SUMS: dict[Interpolation, Callable[[int, int], _Sums]] = {
    Interpolation.NEAREST: _nearest,
    Interpolation.NEAREST_EXACT: _nearest_exact,
    Interpolation.BILINEAR: _bilinear,
    Interpolation.BILINEAR_ANTIALIASED: _antialiased(_triangle, 1),
    Interpolation.BICUBIC: _bicubic,
    Interpolation.BICUBIC_ANTIALIASED: _antialiased(_smooth_cubic, 2),
    Interpolation.AREA: _area,
}


def _bislerp(latent: Planes, cells: tuple[int, int]) -> Planes:
    """Rotate between neighbouring cells, along the rows and then along the columns.

    The vectors of all channels keep their lengths (`comfy.utils.bislerp`).
    """
    for axis, after in ((3, cells[1]), (2, cells[0])):
        cell, following, share = _neighbours(latent.shape[axis], after)
        near, far = (np.take(latent, places, axis) for places in (cell, following))
        latent = _rotated(near, far, share.reshape(1, 1, *((1, -1) if axis == 3 else (-1, 1))))
    return np.ascontiguousarray(latent)


def _neighbours(
    before: int, after: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the two cells between which each new cell lies, and its distance from the first."""
    cells, weights = _bilinear(before, after)
    places = (weights * cells).sum(1).astype(np.float32)
    ends = (weights * np.minimum(cells + 1, before - 1)).sum(1).astype(np.float32)
    return places.astype(np.int64), ends.astype(np.int64), places - np.floor(places)


def _rotated(near: Planes, far: Planes, share: Planes) -> Planes:
    """Return the spherical interpolation over the channels; a copy of `near` where both agree."""
    lengths = [np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (near, far)]
    first, second = (
        vectors / np.where(length == 0, 1, length)
        for vectors, length in zip((near, far), lengths, strict=True)
    )
    cosine = (first * second).sum(axis=1, keepdims=True)
    angle = np.arccos(np.clip(cosine, -1, 1))
    sine = np.where(np.sin(angle) == 0, 1, np.sin(angle))
    turned = np.sin((1 - share) * angle) / sine * first + np.sin(share * angle) / sine * second
    turned = turned * (lengths[0] * (1 - share) + lengths[1] * share)
    straight = near * (1 - share) + far * share
    turned = np.where(cosine > 1 - _ALMOST, near, turned)
    return np.where(cosine < _ALMOST - 1, straight, turned).astype(np.float32)
