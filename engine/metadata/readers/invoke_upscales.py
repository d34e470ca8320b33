"""InvokeAI's pictures in two passes and its enlarged ones.

After `addHRF.ts` of version 4 (removed in version 5) for the high resolution fix, and
`buildMultidiffusionUpscaleGraph.ts` of version 6 for the page that upscales.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.api.control import MAX_CONTROLS, ControlLayer, ControlResize
from engine.api.fields import bounds_of
from engine.api.preprocessors import ControlKind
from engine.api.request import GenerateRequest
from engine.api.second_passes import Resampling, SecondPass
from engine.metadata.json_text import as_object
from engine.metadata.readers.controls import number_of, within_bounds
from engine.metadata.readers.imported import enlarged_afterwards, enlarged_by, enlarged_with
from engine.metadata.readers.values import Values

# The high resolution fix resizes so, whatever its method (`img_resize`).
_RESIZED_BY = "bicubic"
_ESRGAN = "ESRGAN"
# The files that its two scales take.
_TWICE, _FOUR_TIMES = "RealESRGAN_x2plus.pth", "RealESRGAN_x4plus.pth"
_MULTIPLE = 8
_LEAST_SHARE = 0.5
_USUAL_SIDES = {"sdxl": 1024}
_OTHER_SIDE = 512
# Of `upscale_initial_image` and the rest only the settings count.
_UPSCALING = (
    "upscale_model", "upscale_scale", "upscale_initial_image", "creativity", "structure",
    "tile_size", "tile_overlap",
)  # fmt: skip
_UPSCALING_BOUNDS = (-10.0, 10.0)

Size = tuple[int, int]


def with_high_resolution(
    values: Values, request: GenerateRequest, model: object
) -> GenerateRequest:
    """Return the request with the pass before the one whose size the file states.

    The first one has about the area that the model was trained at.
    """
    is_on, method = values.flag("hrf_enabled"), values.text("hrf_method")
    strength = values.number("hrf_strength", *bounds_of(SecondPass, "strength"))
    values.skip("hrf_width", "hrf_height")
    if not is_on or strength is None or request.width is None or request.height is None:
        if is_on:
            values.refuse("hrf_enabled")
        return request
    size = request.width, request.height
    first = _first_size(size, model)
    upscaler = Resampling.LANCZOS.value
    if method == _ESRGAN:
        grown = size[0] * size[1] / (first[0] * first[1])
        upscaler = _FOUR_TIMES if grown > 2 else _TWICE
        values.warnings.append(enlarged_with(upscaler))
    values.warnings.append(enlarged_by(_RESIZED_BY))
    second = SecondPass(width=size[0], height=size[1], upscaler=upscaler, strength=strength)
    return msgspec.structs.replace(
        request, width=first[0], height=first[1], second_passes=(second,)
    )


def _first_size(size: Size, model: object) -> Size:
    """Return `calculateHrfRes`: the shape of the size at the area of the model, and no larger."""
    fields, (width, height) = as_object(model), size
    base = fields.get("base") or fields.get("base_model")
    usual = _USUAL_SIDES.get(str(base), _OTHER_SIDE)
    aspect, least = width / height, math.floor(usual * _LEAST_SHARE)
    if aspect > 1:
        high = max(least, math.sqrt(usual * usual / aspect))
        wide = high * aspect
    else:
        wide = max(least, math.sqrt(usual * usual * aspect))
        high = wide / aspect
    low, _ = bounds_of(GenerateRequest, "width")

    def rounded(side: float, most: int) -> int:
        return max(math.floor(math.floor(min(side, most)) / _MULTIPLE + 0.5) * _MULTIPLE, int(low))

    return rounded(wide, width), rounded(high, height)


def with_upscaling(values: Values, request: GenerateRequest) -> GenerateRequest:
    """Return the request of a picture that the page "Upscale" made from another picture.

    It is redrawn from the enlarged picture, which a tile ControlNet holds with one weight at first
    and with less until shortly before the end.
    """
    fields = {key: values.get(key) for key in _UPSCALING}
    model = as_object(fields["upscale_model"]).get("name")
    if not isinstance(model, str):
        return request
    creativity, structure = (_setting(fields, key) for key in ("creativity", "structure"))
    scale = number_of(fields["upscale_scale"])
    values.warnings.append(enlarged_afterwards(model, "" if scale is None else f"{scale:g} times"))
    if creativity is None or structure is None:
        return request
    values.warnings.append(
        "Then it was redrawn in tiles: choose the enlarged picture as the start picture and in the "
        "control layers, and a tile ControlNet, which the file does not name."
    )
    start = (10 - creativity) * 4.99 / 100
    return msgspec.structs.replace(
        request,
        strength=1 - start,
        controls=(*request.controls, *_tile_layers(structure))[:MAX_CONTROLS],
    )


def _setting(fields: Mapping[str, object], key: str) -> float | None:
    number, (low, high) = number_of(fields[key]), _UPSCALING_BOUNDS
    return number if number is not None and low <= number <= high else None


def _tile_layers(structure: float) -> tuple[ControlLayer, ControlLayer]:
    grown, change = (structure + 10) * 0.0325, (structure + 10) * 0.025 + 0.3
    rules: dict[str, Any] = {
        "image": "",
        "kind": ControlKind.TILE,
        "resize": ControlResize.STRETCH,
    }
    first = ControlLayer(
        **rules,
        weight=within_bounds(ControlLayer, "weight", grown + 0.3, 1.0),
        range=(0.0, min(change, 1.0)),
    )
    second = ControlLayer(
        **rules,
        weight=within_bounds(ControlLayer, "weight", (grown + 0.15) * 0.45, 1.0),
        range=(min(change, 0.85), 0.85),
    )
    return first, second
