"""Joints of a person, by a network whose outputs are SimCC's (Li et al. 2022; RTMPose).

The arithmetic is that of sd-webui-controlnet (`annotator/openpose/cv_ox_pose.py`, `wholebody.py`).
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.preprocessors.opencv.moving import moved
from engine.preprocessors.scales import Pixels

# Points of COCO-WholeBody: body 17, feet 6, face 68, hands 21 each.
POINTS = 133
_MEAN, _DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
# How much larger than its box the part of the picture is, and outputs to a pixel.
_AROUND, _FINE = 1.25, 2.0
# Steps in a pixel, in which places are added up.
_STEPS = 1024
# A point is there from this score on.
_SURE = 0.3
_SHOULDERS = (5, 6)
# The order of OpenPose's 18 points in COCO's 17 and the neck, which comes after them.
_FROM = (17, 6, 8, 10, 7, 9, 12, 14, 16, 13, 15, 2, 1, 4, 3)
_TO = (1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17)


class Crop(msgspec.Struct, frozen=True):
    """The part of a picture that the network sees: its centre and size in pixels, as (x, y)."""

    centre: NDArray[np.floating]
    size: NDArray[np.floating]


def crop_around(box: Array, width: int, height: int) -> Crop:
    """Return the part around a box, of the shape of the network's input."""
    left, top, right, bottom = box
    centre = np.array([left + right, top + bottom]) * 0.5
    wide, high = np.array([right - left, bottom - top]) * _AROUND
    shape = width / height
    size = (wide, wide / shape) if wide > high * shape else (high * shape, high)
    return Crop(centre, np.array(size))


def seen_person(picture: Pixels, crop: Crop, width: int, height: int) -> NDArray[np.float32]:
    """Return what the network sees, float32 [1, 3, height, width]; black outside of the picture."""
    step = float(crop.size[0]) / width
    # Three corners are float32 as there, so that places are the same.
    centre = crop.centre.astype(np.float32).astype(np.float64)
    high, wide = picture.shape[:2]
    columns = np.clip(_places(centre[0], step, width), -1, wide)
    rows = np.clip(_places(centre[1], step, height), -1, high)
    framed = np.pad(picture, ((1, 1), (1, 1), (0, 0)))
    # Places in the picture with a black frame.
    shape = height, width
    x = np.broadcast_to((columns + 1).astype(np.float32), shape)
    y = np.broadcast_to((rows + 1).astype(np.float32)[:, None], shape)
    part = (moved(framed, x, y) - np.array(_MEAN)) / np.array(_DEVIATION)
    return np.ascontiguousarray(part.transpose(2, 0, 1)[None], np.float32)


def _places(centre: float, step: float, count: int) -> NDArray[np.floating]:
    """Return places around a centre in 1/32 of a pixel, rounded as OpenCV's `warpAffine` does."""
    first = np.rint((centre - count * 0.5 * step) * _STEPS)
    return ((first + np.rint(np.arange(count) * step * _STEPS)).astype(np.int64) + 16 >> 5) / 32


def points_of(across: Array, down: Array, crop: Crop, width: int, height: int) -> Array:
    """Return points [133, 3] of x and y in pixels of the picture and a score.

    `across` and `down` are the network's outputs, float32 [133, places].
    """
    places = np.stack((across.argmax(1), down.argmax(1)), axis=-1).astype(np.float32)
    scores = np.minimum(across.max(1), down.max(1))
    places[scores <= 0] = -1
    places /= np.float32(_FINE)
    at = places / (width, height) * crop.size + crop.centre - crop.size / 2
    return np.concatenate([at, scores[:, None]], axis=1)


def as_openpose(points: Array) -> Array:
    """Return points [134, 3] in the order of OpenPose: with a neck, between the shoulders."""
    shoulders = points[list(_SHOULDERS)]
    neck = shoulders.mean(axis=0)
    neck[2] = (shoulders[:, 2] > _SURE).all()
    ordered = np.insert(points, 17, neck, axis=0)
    ordered[list(_TO)] = ordered[list(_FROM)]
    return ordered


def is_there(points: Array) -> NDArray[np.bool_]:
    """Tell which points are sure enough to be drawn."""
    return points[:, 2] >= _SURE
