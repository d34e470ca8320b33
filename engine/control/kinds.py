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

# InstantX's FLUX.1-dev-Controlnet-Union and Shakker Labs' Union-Pro, by their cards; 3 is a blurred
# picture and 6 one of low quality, of which there are no maps here.
FLUX_UNION_KINDS: Mapping[ControlKind, int] = MappingProxyType(
    {
        ControlKind.CANNY: 0,
        ControlKind.TILE: 1,
        ControlKind.DEPTH: 2,
        ControlKind.POSE: 4,
        ControlKind.RECOLOR: 5,
    }
)
