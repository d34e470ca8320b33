"""Pictures as CLIP sees them: square, small and normalised, as each tool makes them."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.conventions import ImagePrompting
from engine.preprocessors.opencv.resizing import resize_area

_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
_DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711], np.float32)
# The longest side of a picture that is resized whole, in shorter sides.
_LONGEST = 16
Planes = NDArray[np.float32]


def clip_pixels(picture: Image.Image, side: int, rule: ImagePrompting) -> Planes:
    """Return an RGB picture as CLIP sees it: float32 [1, 3, side, side], normalised.

    Sources: transformers `CLIPImageProcessorPil`, `clip_preprocess` of ComfyUI's
    `comfy/clip_vision.py`, sd-webui-controlnet `annotator/clipvision/__init__.py`.
    """
    if rule is not ImagePrompting.A1111:
        picture = _without_far_ends(picture)
    match rule:
        case ImagePrompting.DIFFUSERS:
            seen = _cropped(_resized_levels(picture, side), side) * np.float32(1 / 255)
        case ImagePrompting.COMFY:
            seen = np.rint(np.clip(_cropped(_resized_numbers(picture, side), side), 0, 255)) / 255
        case ImagePrompting.A1111:
            seen = resize_area(np.asarray(picture), side, side) * np.float32(1 / 255)
    return _normalised(seen.astype(np.float32))


def no_pixels(side: int, rule: ImagePrompting) -> Planes:
    """Return what an adapter that sees states is shown without a picture, as `clip_pixels`.

    ComfyUI's nodes show a black picture; the others show zeros, which are CLIP's mean colour.
    """
    black = np.zeros((side, side, 3), np.float32)
    if rule is ImagePrompting.COMFY:
        return _normalised(black)
    return black.transpose(2, 0, 1)[np.newaxis]


def _normalised(levels: Planes) -> Planes:
    """Return levels [height, width, 3] from 0 to 1 by CLIP's mean and deviation."""
    normal = (levels - _MEAN) / _DEVIATION
    return np.ascontiguousarray(normal.transpose(2, 0, 1)[np.newaxis])


def _without_far_ends(picture: Image.Image) -> Image.Image:
    """Cut what is never seen off a long strip, which would be enlarged by its short side."""
    most = _LONGEST * min(picture.size)
    width, height = (min(length, most) for length in picture.size)
    left, top = (picture.width - width) // 2, (picture.height - height) // 2
    return picture.crop((left, top, left + width, top + height))


def _resized_levels(picture: Image.Image, side: int) -> Planes:
    """Resize so that the shorter side is `side` long, in 8 bits; the longer one is cut."""
    shorter = min(picture.size)
    width, height = (max(side, side * length // shorter) for length in picture.size)
    resized = picture.resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(resized, np.float32)


def _resized_numbers(picture: Image.Image, side: int) -> Planes:
    """Resize so that the shorter side is `side` long, in numbers; the longer one is rounded."""
    if picture.size == (side, side):
        return np.asarray(picture, np.float32)
    scale = side / min(picture.size)
    size = round(scale * picture.width), round(scale * picture.height)
    planes = (Image.fromarray(np.asarray(plane, np.float32)) for plane in picture.split())
    return np.stack(
        [np.asarray(plane.resize(size, Image.Resampling.BICUBIC)) for plane in planes], 2
    )


def _cropped(image: Planes, side: int) -> Planes:
    """Return the middle of a picture [height, width, 3]."""
    top, left = ((length - side) // 2 for length in image.shape[:2])
    return image[top : top + side, left : left + side]
