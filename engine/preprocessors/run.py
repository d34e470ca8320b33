"""Runs a preprocessor by its options."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.api.bounds import bounded
from engine.api.preprocessors import MapOptions, PreprocessorName, name_of
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError, host_memory_errors
from engine.preprocessors import plain
from engine.preprocessors.scales import Pixels

_PLAIN: Mapping[PreprocessorName, Callable[[Pixels, Any], Pixels]] = {
    PreprocessorName.CANNY: plain.canny,
    PreprocessorName.INVERT: plain.invert,
    PreprocessorName.THRESHOLD: plain.threshold,
    PreprocessorName.BLUR: plain.blurred,
    PreprocessorName.COLOR_GRID: plain.color_grid,
    PreprocessorName.TILE_RESAMPLE: plain.tile_resample,
    PreprocessorName.SCRIBBLE_XDOG: plain.scribble_xdog,
    PreprocessorName.SHUFFLE: plain.shuffle,
    PreprocessorName.RECOLOR_LUMINANCE: plain.recolor_luminance,
    PreprocessorName.RECOLOR_INTENSITY: plain.recolor_intensity,
    PreprocessorName.LINEART_STANDARD: plain.lineart_standard,
}


def make_map(picture: Pixels, options: MapOptions) -> Pixels:
    """Return the map of an RGB picture; both are uint8 [height, width, 3].

    Raises EngineError: REQUEST_INVALID for options out of their bounds and for maps that are too
    long, OUT_OF_MEMORY.
    """
    require_within(options)
    with host_memory_errors():
        return _PLAIN[name_of(options)](picture, options)


def require_within(options: MapOptions) -> None:
    """Raise EngineError(REQUEST_INVALID) unless each option is within its bounds."""
    for number in bounded(options):
        if not number.is_within:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence(
                    "The {name} is {value:,}; it must be from {low:,} to {high:,}.",
                    name=Sentence(number.name),
                    value=number.value,
                    low=number.low,
                    high=number.high,
                ),
            )
