"""The preprocessors of sd-webui-controlnet ("modules") by their names of all versions.

After `scripts/preprocessor/` and `scripts/supported_preprocessor.py`, which take a module's name
and its label; the older names are those of `scripts/global_state.py` of 2023.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from engine.api.preprocessors import (
    BlurOptions,
    CannyOptions,
    ColorGridOptions,
    DepthOptions,
    HedOptions,
    IntensityOptions,
    InvertOptions,
    LineartOptions,
    LineartStandardOptions,
    LuminanceOptions,
    MapOptions,
    PidinetOptions,
    PoseOptions,
    ReferenceOptions,
    ScribbleHedOptions,
    ScribblePidinetOptions,
    ShuffleOptions,
    ThresholdOptions,
    TileOptions,
    XdogOptions,
)


class Module(msgspec.Struct, frozen=True):
    """A module that exists here: its usual options, and the names of its thresholds here."""

    options: MapOptions
    thresholds: tuple[str, ...] = ()


# This shows its picture to the model itself, and has no network.
REFERENCE_MODULE = "reference_only"

_INVERT, _STANDARD = Module(InvertOptions()), Module(LineartStandardOptions())
_HED, _PIDINET = Module(HedOptions()), Module(PidinetOptions())
_SAFE_HED, _SAFE_PIDINET = Module(HedOptions(safe=True)), Module(PidinetOptions(safe=True))
_SCRIBBLE_HED, _SCRIBBLE_PIDINET = Module(ScribbleHedOptions()), Module(ScribblePidinetOptions())
_XDOG = Module(XdogOptions(), ("threshold",))
_REFERENCE = Module(ReferenceOptions(), ("style_fidelity",))
_GRID, _LINEART = Module(ColorGridOptions()), Module(LineartOptions())

MODULES: Mapping[str, Module] = MappingProxyType(
    {
        "canny": Module(CannyOptions(), ("low", "high")),
        "invert": _INVERT,
        "invert (from white bg & black line)": _INVERT,
        "threshold": Module(ThresholdOptions(), ("threshold",)),
        "binary": Module(ThresholdOptions(), ("threshold",)),
        "blur_gaussian": Module(BlurOptions(), ("sigma",)),
        "color": _GRID,
        "t2ia_color_grid": _GRID,
        "tile_resample": Module(TileOptions(), ("down_sampling_rate",)),
        "scribble_xdog": _XDOG,
        "shuffle": Module(ShuffleOptions()),
        "recolor_luminance": Module(LuminanceOptions(), ("gamma",)),
        "recolor_intensity": Module(IntensityOptions(), ("gamma",)),
        "lineart_standard": _STANDARD,
        "lineart_standard (from white bg & black line)": _STANDARD,
        "lineart": _LINEART,
        "lineart_realistic": _LINEART,
        "hed": _HED,
        "softedge_hed": _HED,
        "hed_safe": _SAFE_HED,
        "softedge_hedsafe": _SAFE_HED,
        "pidinet": _PIDINET,
        "softedge_pidinet": _PIDINET,
        "pidinet_safe": _SAFE_PIDINET,
        "softedge_pidisafe": _SAFE_PIDINET,
        "scribble_hed": _SCRIBBLE_HED,
        "fake_scribble": _SCRIBBLE_HED,
        "pidinet_scribble": _SCRIBBLE_PIDINET,
        "scribble_pidinet": _SCRIBBLE_PIDINET,
        "depth_anything_v2": Module(DepthOptions()),
        "dw_openpose_full": Module(PoseOptions()),
        REFERENCE_MODULE: _REFERENCE,
    }
)
# These paint the request's own masked picture, and need no map.
INPAINT_MODULES = frozenset(
    {"inpaint", "inpaint_global_harmonious", "inpaint_only", "inpaint_only+lama"}
)
IMAGE_PROMPT_MODULES = frozenset(
    {
        "ip-adapter-auto",
        "ip-adapter_clip_sd15",
        "ip-adapter_clip_sdxl",
        "ip-adapter_clip_h",
        "ip-adapter_clip_g",
        "ip-adapter_clip_sdxl_plus_vith",
    }
)
# Modules that do something else than following a map or a picture's content.
UNREAD_MODULES = frozenset(
    {
        "reference_adain",
        "reference_adain+attn",
        "revision_clipvision",
        "revision_ignore_prompt",
        "clip_vision",
        "t2ia_style_clipvision",
        "instant_id_face_embedding",
        "instant_id_face_keypoints",
        "ip-adapter_face_id",
        "ip-adapter_face_id_plus",
        "ip-adapter_pulid",
    }
)
