"""Preprocessors without weights, as in sd-webui-controlnet (`model_free_preprocessors.py`).

Pictures and maps are uint8 [height, width, 3] in RGB.
"""

import numpy as np
from numpy.typing import NDArray

from engine.api.preprocessors import (
    BlurOptions,
    CannyOptions,
    ColorGridOptions,
    IntensityOptions,
    InvertOptions,
    LineartStandardOptions,
    LuminanceOptions,
    ReferenceOptions,
    ShuffleOptions,
    ThresholdOptions,
    TileOptions,
    XdogOptions,
)
from engine.preprocessors.opencv import edges, moving
from engine.preprocessors.opencv.blurring import blur, blur_numbers
from engine.preprocessors.opencv.colours import lightness
from engine.preprocessors.opencv.resizing import (
    resize_area,
    resize_cubic,
    resize_cubic_numbers,
    resize_nearest,
)
from engine.preprocessors.scales import Pixels, map_size, on_three_channels, padded, resized

# Pixels of a cell of the grid of colours, and of the grid of random numbers of a shuffle.
_COLOUR_CELL, _SHUFFLE_CELL = 64, 256
# A tile is resampled from this rate on.
_LEAST_RATE = 1.1
# Standard deviations of the blurs: XDoG's narrow and wide one, and that of standard lineart.
_NARROW, _WIDE, _LINEART = 0.5, 5.0, 6.0


def canny(picture: Pixels, options: CannyOptions) -> Pixels:
    """Return OpenCV's Canny edges, white on black."""

    def found(whole: Pixels) -> Pixels:
        return on_three_channels(edges.canny(whole, options.low, options.high))

    return padded(resized(picture, options.resolution), found)


def invert(picture: Pixels, _options: InvertOptions) -> Pixels:
    """Return the negative."""
    return 255 - picture


def threshold(picture: Pixels, options: ThresholdOptions) -> Pixels:
    """Return white where every channel is above the threshold."""
    bright = resized(picture, options.resolution).min(axis=2) > options.threshold
    return on_three_channels(_white(bright))


def blurred(picture: Pixels, options: BlurOptions) -> Pixels:
    """Return the picture through a Gaussian."""
    return blur(resized(picture, options.resolution), options.sigma)


def color_grid(picture: Pixels, options: ColorGridOptions) -> Pixels:
    """Return a colour for each 64 x 64 pixels: bicubic samples without antialiasing."""
    height, width = picture.shape[:2]
    width, height = map_size(width, height, options.resolution)
    whole = resize_area(picture, width, height)
    columns, rows = (max(1, side // _COLOUR_CELL) for side in (width, height))
    cells = resize_cubic(whole, columns, rows)
    return resize_nearest(cells, width, height)


def tile_resample(picture: Pixels, options: TileOptions) -> Pixels:
    """Return the picture, smaller by the rate where that is at least 1.1."""
    rate = options.down_sampling_rate
    if rate < _LEAST_RATE:
        return picture
    height, width = (max(1, int(side / rate)) for side in picture.shape[:2])
    return resize_area(picture, width, height)


def scribble_xdog(picture: Pixels, options: XdogOptions) -> Pixels:
    """Return where a wide Gaussian is brighter than a narrow one (Winnemoeller 2011).

    Twice the difference is compared modulo 256, as there: a difference of 128 to 143 counts as 0
    to 30.
    """

    def strokes(whole: Pixels) -> Pixels:
        numbers = whole.astype(np.float32)
        difference = (blur_numbers(numbers, _WIDE) - blur_numbers(numbers, _NARROW)).min(axis=2)
        depth = 255 - np.clip(255 - difference, 0, 255).astype(np.uint8)
        return on_three_channels(_white(depth * np.uint8(2) > options.threshold))

    return padded(resized(picture, options.resolution), strokes)


def shuffle(picture: Pixels, options: ShuffleOptions) -> Pixels:
    """Return the picture with its pixels read at random smooth places.

    Random numbers, their order and the arithmetic are those of sd-webui-controlnet with OpenCV 4
    after `numpy.random.seed(seed)`: first the columns' field, then the rows'.
    """
    whole = resized(picture, options.resolution)
    height, width = whole.shape[:2]
    random = np.random.RandomState(options.seed)
    columns = _smooth_field(random, width, height) * float(width - 1)
    rows = _smooth_field(random, width, height) * float(height - 1)
    return moving.moved(whole, columns.astype(np.float32), rows.astype(np.float32))


def recolor_luminance(picture: Pixels, options: LuminanceOptions) -> Pixels:
    """Return L* to the power of gamma.

    Red and blue are swapped in it, as there: OpenCV is told that the picture is BGR.
    """
    red, green, blue = np.moveaxis(picture, 2, 0)
    return on_three_channels(_powers(options.gamma)[lightness(blue, green, red)])


def recolor_intensity(picture: Pixels, options: IntensityOptions) -> Pixels:
    """Return the brightest channel to the power of gamma."""
    return on_three_channels(_powers(options.gamma)[picture.max(axis=2)])


def lineart_standard(picture: Pixels, options: LineartStandardOptions) -> Pixels:
    """Return how much darker than its surroundings each pixel is; the median of lines is 127."""

    def lines(whole: Pixels) -> Pixels:
        numbers = whole.astype(np.float32)
        darker = np.clip((blur_numbers(numbers, _LINEART) - numbers).min(axis=2), 0, 255)
        clear = darker[darker > 8]
        usual = max(16.0, float(np.median(clear))) if clear.size else 16.0
        scaled = darker / np.float32(usual) * np.float32(127)
        return on_three_channels(np.clip(scaled, 0, 255).astype(np.uint8))

    return padded(resized(picture, options.resolution), lines)


def _white(where: NDArray[np.bool_]) -> Pixels:
    return where.astype(np.uint8) * np.uint8(255)


def _powers(gamma: float) -> Pixels:
    """Return each level to the power of gamma, in float32 and cut to a level."""
    level = np.arange(256, dtype=np.float32) / np.float32(255)
    return np.clip(level ** np.float32(gamma) * np.float32(255), 0, 255).astype(np.uint8)


def _smooth_field(random: np.random.RandomState, width: int, height: int) -> NDArray[np.float64]:
    """Return random numbers from 0 to 1, [height, width], smooth over 256 pixels."""
    cell = _SHUFFLE_CELL
    coarse = random.uniform(0, 1, (height // cell + 2, width // cell + 2, 1))
    field = resize_cubic_numbers(coarse, width + 2 * cell, height + 2 * cell)
    field = field[cell : cell + height, cell : cell + width, 0]
    field = field - field.min()
    return field / (field.max() or 1)


def as_it_is(picture: Pixels, options: ReferenceOptions) -> Pixels:
    """Return the picture itself."""
    return picture
