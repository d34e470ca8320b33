"""The maps that are frozen: a picture's name and the options of a preprocessor."""

from engine.api.preprocessors import (
    BlurOptions,
    CannyOptions,
    ColorGridOptions,
    IntensityOptions,
    LineartStandardOptions,
    LuminanceOptions,
    MapOptions,
    ShuffleOptions,
    ThresholdOptions,
    TileOptions,
    XdogOptions,
)
from tests.preprocessors.pictures import PICTURES

_OF_EACH: tuple[MapOptions, ...] = (
    CannyOptions(resolution=64),
    CannyOptions(resolution=150),
    CannyOptions(resolution=100, low=40, high=41),
    ThresholdOptions(resolution=64),
    BlurOptions(resolution=64),
    BlurOptions(resolution=64, sigma=0.4),
    BlurOptions(resolution=64, sigma=40.0),
    ColorGridOptions(resolution=130),
    TileOptions(),
    TileOptions(down_sampling_rate=1.7),
    XdogOptions(resolution=80),
    XdogOptions(resolution=150, threshold=8),
    ShuffleOptions(resolution=64, seed=2_000_000_001),
    LuminanceOptions(gamma=0.6),
    LuminanceOptions(),
    IntensityOptions(gamma=1.4),
    LineartStandardOptions(resolution=100),
)
CASES = {
    f"{picture}/{number}": (picture, options)
    for picture in PICTURES
    for number, options in enumerate(_OF_EACH)
    # A line of 50 x 1 would become 3200 x 64.
    if picture != "line" or number in (0, 8, 9, 13)
}
