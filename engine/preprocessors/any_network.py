"""Maps by a network of any ONNX file that takes a picture and makes one."""

import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.api.map_choices import OnnxPixels, OnnxValues
from engine.api.preprocessors import OnnxOptions
from engine.api.sentences import sentence
from engine.preprocessors.ade20k import CLASSES, colours
from engine.preprocessors.annotators import Plane
from engine.preprocessors.networks import IMAGENET_DEVIATION, IMAGENET_MEAN
from engine.preprocessors.onnx_files import LoadedOnnx, mismatch
from engine.preprocessors.opencv.resizing import (
    resize_linear,
    resize_linear_levels,
    resize_nearest,
)
from engine.preprocessors.scales import Pixels, padded, resized

_MEAN = np.array(IMAGENET_MEAN, np.float32)
_DEVIATION = np.array(IMAGENET_DEVIATION, np.float32)


def by_any_network(picture: Pixels, options: OnnxOptions, network: LoadedOnnx) -> Pixels:
    """Return the network's first output as a map of the picture's shape.

    Raises EngineError(CHECKPOINT_MISMATCH) where that is no map.
    """

    def drawn(whole: Pixels) -> Pixels:
        height, width = whole.shape[:2]
        side = options.side
        wide, high = network.file.size(side or width, side or height)
        made = network(_numbers(resize_linear_levels(whole, wide, high), options.pixels))[0]
        if options.values is OnnxValues.CLASSES:
            return resize_nearest(colours()[_classes(made, network)], width, height)
        plane = resize_linear(_plane(made, network), width, height)
        levels = _levels(plane, options.values)
        return 255 - levels if options.invert else levels

    return padded(resized(picture, options.resolution), drawn)


def _numbers(picture: Pixels, pixels: OnnxPixels) -> NDArray[np.float32]:
    """Return a picture as float32 [1, 3, height, width] in the numbers of a network."""
    levels = picture.astype(np.float32)
    match pixels:
        case OnnxPixels.LEVELS:
            numbers = levels
        case OnnxPixels.UNIT:
            numbers = levels / np.float32(255)
        case OnnxPixels.SIGNED:
            numbers = levels / np.float32(127.5) - np.float32(1)
        case OnnxPixels.IMAGENET:
            mean, deviation = _MEAN, _DEVIATION
            numbers = (levels / np.float32(255) - mean) / deviation
    return np.ascontiguousarray(numbers.transpose(2, 0, 1)[None])


def _plane(made: Array, network: LoadedOnnx) -> Plane:
    """Return an output as float32 [height, width, 3]: three channels, or one three times."""
    found = made.astype(np.float32)
    if found.ndim == 4 and found.shape[0] == 1:
        found = found[0]
    if found.ndim == 2:
        found = found[None]
    if found.ndim != 3 or found.shape[0] not in (1, 3) or not found.size:
        raise mismatch(network.file.path.name, sentence("its result is no map"))
    return np.ascontiguousarray(np.broadcast_to(found, (3, *found.shape[1:])).transpose(1, 2, 0))


def _levels(numbers: Plane, values: OnnxValues) -> Pixels:
    match values:
        case OnnxValues.UNIT:
            levels = numbers * np.float32(255)
        case OnnxValues.SIGNED:
            levels = numbers * np.float32(127.5) + np.float32(127.5)
        case OnnxValues.STRETCHED:
            above = numbers - numbers.min()
            levels = above / (above.max() or np.float32(1)) * np.float32(255)
        case _:
            levels = numbers
    return np.clip(np.rint(levels), 0, 255).astype(np.uint8)


def _classes(made: Array, network: LoadedOnnx) -> NDArray[np.intp]:
    """Return the class of each place [height, width], of numbers for each class or of classes."""
    found = made[0] if made.ndim > 2 and made.shape[0] == 1 else made
    if found.ndim == 3 and found.shape[0] == 1:
        found = found[0]
    classes = found.argmax(axis=0) if found.ndim == 3 else found.astype(np.intp)
    if classes.ndim != 2 or not classes.size or not 0 <= classes.min() <= classes.max() < CLASSES:
        raise mismatch(network.file.path.name, sentence("its result is no map of 150 classes"))
    return classes
