"""The second pass in AUTOMATIC1111's text ("Hires fix"), and in that of Forge.

After `StableDiffusionProcessingTxt2Img` of `modules/processing.py` of version 1.10.1.
"""

import math
from collections.abc import Callable
from pathlib import PureWindowsPath
from typing import Any

from engine.api import SamplerName, ScheduleName
from engine.api.fields import bounds_of
from engine.api.second_passes import LatentUpscaler, Resampling, SecondPass
from engine.metadata.infotext import Infotext
from engine.metadata.readers.a1111_keys import is_distilled
from engine.metadata.readers.imported import drawn_again_with, enlarged_with
from engine.metadata.readers.names import (
    ANY_SAMPLERS,
    ANY_SCHEDULES,
    sampler_of,
    schedule_of,
    split_method,
)
from engine.metadata.readers.values import Values
from engine.metadata.size_text import read_size

# Keys by which a text tells that there is a second pass.
_SIGNS = ("Hires upscale", "Hires resize", "First pass size")
# A1111's methods without a file, by its names; "None" stretches as Lanczos does.
_METHODS = {
    "None": Resampling.LANCZOS.value,
    "Lanczos": Resampling.LANCZOS.value,
    "Nearest": Resampling.NEAREST.value,
}

Size = tuple[int, int]


def first_size(values: Values) -> Size | None:
    """Return width and height of the first pass.

    Very old files state the final size, and the first pass separately; 0x0 let the tool choose a
    size of about 512 x 512 pixels, in steps of 64.
    """
    size, first = values.size("Size"), values.get("First pass size")
    if first == "0x0" and size is not None:
        scale = math.sqrt(512 * 512 / (size[0] * size[1]))
        return math.ceil(scale * size[0] / 64) * 64, math.ceil(scale * size[1] / 64) * 64
    if first is not None and first != "0x0":
        return values.size("First pass size") or size
    return size


def read_hires(
    values: Values,
    info: Infotext,
    first: Size | None,
    automatic: Callable[[SamplerName | None], str],
) -> tuple[SecondPass, ...]:
    """Return the second pass that a text tells of, if any.

    `first` is the size of the first pass; `automatic` returns the schedule that "Automatic" stands
    for with a sampler.
    """
    if all(info.get(key) is None for key in _SIGNS):
        return ()
    found: dict[str, Any] = _size(values, info, first)
    upscaler = info.get("Hires upscaler") or LatentUpscaler.BILINEAR.value
    # A name alone: a text never makes a file elsewhere be opened.
    found["upscaler"] = _METHODS.get(upscaler, PureWindowsPath(upscaler).name)
    distilled = is_distilled(values)
    scale = "Hires Distilled CFG Scale" if distilled else "Hires CFG Scale"
    found |= values.read(SecondPass, strength="Denoising strength", guidance=scale)
    if distilled and info.get("Hires CFG Scale") == info.get("CFG scale"):
        values.skip("Hires CFG Scale")  # a second pass has that of the first
    values.skip("Hires upscaler")
    if info.get("Hires steps") in ("0", None):
        values.skip("Hires steps")  # as many as the first pass
    else:
        found |= values.read(SecondPass, steps="Hires steps")
    for name, key in (("prompt", "Hires prompt"), ("negative_prompt", "Hires negative prompt")):
        found[name] = values.text(key)
    found |= _method(values, info, automatic)
    return (SecondPass(**found),)


def hires_remarks(values: Values, passes: tuple[SecondPass, ...]) -> list[str]:
    """Return sentences on the files that a second pass needs."""
    remarks = [enlarged_with(second.upscaler) for second in passes if _is_file(second.upscaler)]
    checkpoint = values.text("Hires checkpoint")
    if checkpoint is not None and passes:
        remarks.append(drawn_again_with(checkpoint))
    return remarks


def _is_file(upscaler: str) -> bool:
    return upscaler not in tuple(LatentUpscaler) and upscaler not in tuple(Resampling)


def _size(values: Values, info: Infotext, first: Size | None) -> dict[str, Any]:
    """Return the size of the second pass, or its scale.

    "Hires resize" may leave out a side, which then follows from the first pass's shape.
    """
    if info.get("First pass size") is not None:
        size = values.size("Size")
        return {} if size is None else {"width": size[0], "height": size[1]}
    resize = read_size(info.get("Hires resize") or "")
    values.skip("Hires resize")
    if resize is not None and first is not None and any(resize):
        width, height = resize
        size = width or height * first[0] // first[1], height or width * first[1] // first[0]
        low, high = bounds_of(SecondPass, "width")
        if all(low <= side <= high for side in size):
            return {"width": size[0], "height": size[1]}
    if info.get("Hires resize") is not None:
        values.refuse("Hires resize")
    return values.read(SecondPass, scale="Hires upscale")


def _method(
    values: Values, info: Infotext, automatic: Callable[[SamplerName | None], str]
) -> dict[str, SamplerName | ScheduleName | None]:
    """Return sampler and schedule; None is the first pass's.

    Versions 1.6 to 1.8 name both in one key.
    """
    name, kind = values.text("Hires sampler"), values.text("Hires schedule type")
    if name is None and kind is None:
        return {}
    sampler_name, fused = split_method(name or "")
    sampler = sampler_of(ANY_SAMPLERS, sampler_name)
    if name is not None and sampler is None:
        values.refuse("Hires sampler")
    wanted = (kind or fused or info.get("Schedule type") or "automatic").casefold()
    if wanted == "automatic":
        wanted = automatic(sampler)
    schedule = schedule_of(ANY_SCHEDULES, wanted)
    if schedule is None:
        values.refuse("Hires schedule type")
    return {"sampler": sampler, "schedule": schedule}
