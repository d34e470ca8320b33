"""The preprocessor that a control network is usually given, by the kind of map that it follows."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from engine.api.control import ControlLayer
from engine.api.control_kinds import kinds_in_name
from engine.api.model_files import ModelInfo
from engine.api.preprocessors import (
    PREPROCESSORS,
    ControlKind,
    MapOptions,
    PreprocessorName,
    name_of,
)

_USUAL: Mapping[ControlKind, PreprocessorName] = MappingProxyType(
    {
        ControlKind.CANNY: PreprocessorName.CANNY,
        ControlKind.DEPTH: PreprocessorName.DEPTH_ANYTHING_V2,
        ControlKind.SOFTEDGE: PreprocessorName.SOFTEDGE_PIDINET,
        ControlKind.LINEART: PreprocessorName.LINEART_STANDARD,
        ControlKind.SCRIBBLE: PreprocessorName.SCRIBBLE_XDOG,
        ControlKind.POSE: PreprocessorName.DW_OPENPOSE,
        ControlKind.NORMAL: PreprocessorName.NORMAL_DEPTH,
        ControlKind.TILE: PreprocessorName.TILE_RESAMPLE,
        ControlKind.SHUFFLE: PreprocessorName.SHUFFLE,
        ControlKind.COLOR: PreprocessorName.COLOR_GRID,
        ControlKind.RECOLOR: PreprocessorName.RECOLOR_LUMINANCE,
        ControlKind.REFERENCE: PreprocessorName.REFERENCE_ONLY,
    }
)


def kind_in_name(name: str) -> ControlKind | None:
    """Return the kind of map that a network's name tells; None for networks of any or no kind.

    `name` may begin with folders, which count where the file's own name tells nothing.
    """
    told = kinds_in_name(name.rpartition("/")[2]) or kinds_in_name(name)
    return told[0] if len(told) == 1 else None


def kind_of(layer: ControlLayer, info: ModelInfo | None) -> ControlKind | None:
    """Return the kind of map that a layer's network follows, as far as it is known."""
    if info is not None and info.follows is not None:
        return info.follows
    if layer.kind is not None or layer.network is None:
        return layer.kind
    return kind_in_name(info.name if info is not None else layer.network)


def preprocessor_for(layer: ControlLayer, info: ModelInfo) -> ControlLayer:
    """Return a layer with the usual preprocessor of its network, unless its own serves it."""
    return serving(layer, kind_of(layer, info))


def serving(layer: ControlLayer, kind: ControlKind | None) -> ControlLayer:
    """Return a layer with the usual preprocessor for a kind of map, unless its own serves it.

    For inpainting it is none: the picture itself is followed.
    """
    if kind is ControlKind.INPAINT:
        return msgspec.structs.replace(layer, preprocessor=None, preprocessor_weights=None)
    usual = usual_preprocessor(kind)
    if usual is None or serves(layer.preprocessor, kind):
        return layer
    return msgspec.structs.replace(layer, preprocessor=usual, preprocessor_weights=None)


def usual_preprocessor(kind: ControlKind | None) -> MapOptions | None:
    """Return the usual preprocessor for a kind of map, with its usual options; None without one."""
    name = _USUAL.get(kind) if kind is not None else None
    return PREPROCESSORS[name].options() if name is not None else None


def serves(options: MapOptions | None, kind: ControlKind | None) -> bool:
    """Return True if a preprocessor makes maps of a kind."""
    return options is not None and kind in PREPROCESSORS[name_of(options)].serves
