"""Boxes around people, by a YOLOX network (Ge et al. 2021; `annotator/openpose/cv_ox_det.py`)."""

import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.preprocessors.opencv.resizing import resize_linear_levels
from engine.preprocessors.scales import Pixels

# Pixels of a cell on each level, and the grey around a picture.
_STRIDES = (8, 16, 32)
_GREY = 114
# A box counts from this score on, is kept by this one, and hides others that it overlaps so far.
_COUNTS, _KEPT, _OVERLAP = 0.1, 0.3, 0.45
# More people than this are not looked for.
_MOST = 64
# Numbers of a row before those of the classes: centre, size, and whether there is anything.
HEAD = 5


def seen_picture(picture: Pixels, width: int, height: int) -> tuple[NDArray[np.float32], float]:
    """Return what the network sees, float32 [1, 3, height, width] of 0 to 255, and the scale.

    The picture fits into the upper left corner; the rest is grey.
    """
    scale = min(height / picture.shape[0], width / picture.shape[1])
    high, wide = (max(1, int(side * scale)) for side in picture.shape[:2])
    whole = np.full((height, width, 3), _GREY, np.uint8)
    whole[:high, :wide] = resize_linear_levels(picture, wide, high)
    return np.ascontiguousarray(whole.transpose(2, 0, 1)[None], np.float32), scale


def cells(width: int, height: int) -> int:
    """Return the number of boxes that the network proposes for a picture of this size."""
    return sum((width // stride) * (height // stride) for stride in _STRIDES)


def boxes_of_people(
    found: Array, width: int, height: int, scale: float
) -> NDArray[np.float32] | None:
    """Return boxes [people, 4] of left, top, right and bottom in pixels, the surest first.

    `found` is the network's output, float32 [cells, 5 + classes], of which people are the first.
    None if there is nothing at all in the picture; no boxes if there are only other things.
    """
    boxes, scores = _boxes(found, width, height, scale), found[:, 4:5] * found[:, HEAD:]
    if not (scores > _COUNTS).any():
        return None
    of_people = scores[:, 0]
    counts = of_people > _COUNTS
    boxes, of_people = boxes[counts], of_people[counts]
    apart = _apart(boxes, of_people)
    return boxes[apart][of_people[apart] > _KEPT][:_MOST]


def _boxes(found: Array, width: int, height: int, scale: float) -> NDArray[np.float32]:
    """Return the corners of all boxes in pixels of the picture."""
    corners: list[Array] = []
    strides: list[Array] = []
    for stride in _STRIDES:
        wide, high = width // stride, height // stride
        columns, rows = np.meshgrid(np.arange(wide), np.arange(high))
        corners.append(np.stack((columns, rows), 2).reshape(-1, 2))
        strides.append(np.full((wide * high, 1), stride))
    step = np.concatenate(strides)
    centre = ((found[:, :2] + np.concatenate(corners)) * step).astype(np.float32)
    with np.errstate(over="ignore"):
        size = (np.exp(found[:, 2:4]) * step).astype(np.float32)
    half = size / np.float32(2)
    corners_of = np.concatenate([centre - half, centre + half], axis=1)
    return (corners_of / np.float32(scale)).astype(np.float32, copy=False)


def _apart(boxes: NDArray[np.float32], scores: Array) -> list[int]:
    """Return the places of boxes, the surest first, that no surer one hides."""
    left, top, right, bottom = boxes.T
    areas = (right - left + 1) * (bottom - top + 1)
    order = scores.argsort()[::-1]
    kept: list[int] = []
    while order.size:
        first, others = order[0], order[1:]
        kept.append(int(first))
        wide = np.minimum(right[first], right[others]) - np.maximum(left[first], left[others]) + 1
        high = np.minimum(bottom[first], bottom[others]) - np.maximum(top[first], top[others]) + 1
        shared = np.maximum(0.0, wide) * np.maximum(0.0, high)
        order = others[shared / (areas[first] + areas[others] - shared) <= _OVERLAP]
    return kept
