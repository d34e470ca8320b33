"""Runs a preprocessor by its options."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from engine.api.bounds import bounded
from engine.api.preprocessors import (
    PREPROCESSORS,
    MapOptions,
    MapTarget,
    PreprocessorName,
    name_of,
)
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError, host_memory_errors
from engine.preprocessors import networks, plain
from engine.preprocessors.annotators import AnnotatorKind, MapNetwork
from engine.preprocessors.any_network import by_any_network
from engine.preprocessors.normals import normals
from engine.preprocessors.pose.posing import pose
from engine.preprocessors.scales import Pixels, pixel_perfect

PLAIN: Mapping[PreprocessorName, Callable[[Pixels, Any], Pixels]] = {
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
    PreprocessorName.REFERENCE_ONLY: plain.as_it_is,
}

# Preprocessors with weights: the network and what calls it.
BY_NETWORK: Mapping[
    PreprocessorName, tuple[AnnotatorKind, Callable[[Pixels, Any, Any], Pixels]]
] = {
    PreprocessorName.LINEART: (AnnotatorKind.LINE_DRAWING, networks.lineart),
    PreprocessorName.SOFTEDGE_HED: (AnnotatorKind.HED, networks.softedge_hed),
    PreprocessorName.SOFTEDGE_PIDINET: (AnnotatorKind.PIDINET, networks.softedge_pidinet),
    PreprocessorName.SCRIBBLE_HED: (AnnotatorKind.HED, networks.scribble_hed),
    PreprocessorName.SCRIBBLE_PIDINET: (AnnotatorKind.PIDINET, networks.scribble_pidinet),
    PreprocessorName.DEPTH_ANYTHING_V2: (AnnotatorKind.DEPTH_ANYTHING, networks.depth),
    PreprocessorName.NORMAL_DEPTH: (AnnotatorKind.DEPTH_ANYTHING, normals),
    PreprocessorName.DW_OPENPOSE: (AnnotatorKind.POSE, pose),
    PreprocessorName.ONNX: (AnnotatorKind.ONNX, by_any_network),
}


def make_map(
    picture: Pixels,
    options: MapOptions,
    network: MapNetwork | None = None,
    target: MapTarget | None = None,
) -> Pixels:
    """Return the map of an RGB picture; both are uint8 [height, width, 3].

    `network` is that of a preprocessor with weights. Options without a resolution get that of the
    `target`; without one the map is as large as the picture. Raises EngineError: REQUEST_INVALID
    for options out of their bounds, for maps that are too long and without the right network,
    OUT_OF_MEMORY, those of the network, and Cancelled.
    """
    require_within(options)
    name = name_of(options)
    if target is not None:
        options = fitted(options, picture.shape[1], picture.shape[0], target)
    with host_memory_errors():
        if name in PLAIN:
            return PLAIN[name](picture, options)
        require_network(name, network.kind if network else None)
        assert network is not None
        return BY_NETWORK[name][1](picture, options, network)


def fitted(options: MapOptions, width: int, height: int, target: MapTarget) -> MapOptions:
    """Return options whose open resolution is that of a picture of this size for a target."""
    if getattr(options, "resolution", 0) is not None:
        return options
    return replace(options, resolution=pixel_perfect(width, height, target))


def require_network(name: PreprocessorName, kind: AnnotatorKind | None) -> None:
    """Raise EngineError(REQUEST_INVALID) unless a preprocessor runs by this network, or by none."""
    wanted = BY_NETWORK[name][0] if name in BY_NETWORK else None
    if kind is wanted:
        return
    about = PREPROCESSORS[name]
    if wanted is None:
        raise EngineError(
            ErrorCode.REQUEST_INVALID, sentence("{title} needs no file.", title=about.title)
        )
    raise EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence("{title} needs a file of its own weights.", title=about.title),
        sentence("Its usual name is {files}.", files=" / ".join(about.files)),
    )


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
