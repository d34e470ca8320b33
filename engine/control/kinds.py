"""The kinds of maps that a union is told apart by numbers, in the order of its training.

The order is that of xinsir's ControlNet++ (`models/controlnet_union.py` and its README); the
first six are those of the earlier network, all eight those of the one called "promax".
"""

from collections.abc import Mapping
from types import MappingProxyType

from engine.api.preprocessors import ControlKind

UNION_KINDS: Mapping[ControlKind, int] = MappingProxyType(
    {
        ControlKind.POSE: 0,
        ControlKind.DEPTH: 1,
        ControlKind.SOFTEDGE: 2,
        ControlKind.SCRIBBLE: 2,
        ControlKind.CANNY: 3,
        ControlKind.LINEART: 3,
        ControlKind.NORMAL: 4,
        ControlKind.SEG: 5,
        ControlKind.TILE: 6,
        ControlKind.INPAINT: 7,
    }
)
