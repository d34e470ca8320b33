"""SwarmUI's "Refine / Upscale": a second pass over the picture, before it is finished.

After the step "Refiner" of `ComfyUIBackend/WorkflowGeneratorSteps.cs`. Both passes count their
steps in a schedule of all of them, from `round(steps * (1 - share))`; the second one draws noise of
the seed after the picture's.
"""

import math
from typing import Any

from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from engine.api.second_passes import Resampling, SecondPass
from engine.metadata.readers.comfy_second_passes import LATENT_METHODS, PICTURE_METHODS
from engine.metadata.readers.imported import drawn_again_with, enlarged_by, enlarged_with, plain
from engine.metadata.readers.named_files import file_name
from engine.metadata.readers.names import COMFY_SAMPLERS, COMFY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.readers.values import Values

_METHOD, _SHARE = "refinermethod", "refinercontrolpercentage"
_UPSCALE, _UPSCALER = "refinerupscale", "refinerupscalemethod"
_MODEL, _BASE = "refinermodel", "(Use Base)"
# The method that draws the whole picture first; the others change models within a run, with noise
# that no request describes.
_AFTERWARDS = "PostApply"
_OTHER_KEYS = (
    "refinersteps", "refinercfgscale", "refinersampler", "refinerscheduler", _MODEL, _UPSCALE,
    _UPSCALER,
)  # fmt: skip
_USUAL_STEPS = 20
# Sides of an enlarged picture are cut to whole multiples.
_MULTIPLE = 16
_LATENT = {f"latent-{name}": method for name, method in LATENT_METHODS.items()}
_PIXEL, _FILE = "pixel-", "model-"


def share_of(steps: int, share: float) -> float:
    """Return the strength at which int(steps * strength) are the steps that SwarmUI runs."""
    taken = steps - round(steps * (1 - share))
    strength = taken / steps
    return strength if int(steps * strength) == taken else math.nextafter(strength, math.inf)


def refining(values: Values, first: GenerateRequest) -> tuple[SecondPass, ...]:
    """Return the second pass after the pass of the request `first`; none if there was none."""
    method = values.text(_METHOD)
    share = values.number(_SHARE, *bounds_of(SecondPass, "strength"))
    if method is None or share is None:
        return ()
    if method != _AFTERWARDS:
        values.skip(*_OTHER_KEYS)
        values.warnings.append(
            f'Its refiner took over by "{plain(method)}", which is not available here; only the '
            "first model's picture is made."
        )
        return ()
    found: dict[str, Any] = values.read(
        SecondPass, steps="refinersteps", guidance="refinercfgscale"
    )
    steps = found["steps"] or first.steps or _USUAL_STEPS
    found["strength"] = share_of(steps, share)
    found |= _method(values)
    found |= _enlarging(values, first)
    seed = None if first.seed is None else first.seed + 1
    found["seed"] = seed if seed is None or seed <= bounds_of(SecondPass, "seed").high else None
    checkpoint = values.text(_MODEL)
    if checkpoint not in (None, _BASE):
        values.warnings.append(drawn_again_with(checkpoint))
    return (SecondPass(**found),)


def _method(values: Values) -> dict[str, Any]:
    """Return sampler and schedule; None is the first pass's."""
    sampler, schedule = values.text("refinersampler"), values.text("refinerscheduler")
    found = {
        "sampler": None if sampler is None else sampler_of(COMFY_SAMPLERS, sampler),
        "schedule": None if schedule is None else schedule_of(COMFY_SCHEDULES, schedule),
    }
    for name, key in (("sampler", "refinersampler"), ("schedule", "refinerscheduler")):
        if found[name] is None and values.text(key) is not None:
            values.refuse(key)
    return found


def _enlarging(values: Values, first: GenerateRequest) -> dict[str, Any]:
    """Return size and upscaler; without a known method SwarmUI enlarges nothing."""
    scale = values.number(_UPSCALE, *bounds_of(SecondPass, "scale"))
    method = values.text(_UPSCALER) or ""
    if scale in (None, 1) or not method.startswith((_PIXEL, _FILE, *_LATENT)):
        if scale not in (None, 1) and method:
            values.refuse(_UPSCALER)
        return {"scale": 1.0}
    if method in _LATENT:
        return {"scale": scale, "upscaler": _LATENT[method].value}
    found: dict[str, Any] = {"scale": scale}
    if first.width is not None and first.height is not None:
        sides = (
            round(side * scale) // _MULTIPLE * _MULTIPLE for side in (first.width, first.height)
        )
        width, height = sides
        low, high = bounds_of(SecondPass, "width")
        if low <= min(width, height) and max(width, height) <= high:
            found |= {"width": width, "height": height}
    file = file_name(method.removeprefix(_FILE)) if method.startswith(_FILE) else ""
    if file:
        values.warnings.append(enlarged_with(file))
        return found | {"upscaler": file}
    resampling = PICTURE_METHODS.get(method.removeprefix(_PIXEL))
    if resampling is None:
        values.warnings.append(enlarged_by(method.removeprefix(_PIXEL)))
        resampling = Resampling.LANCZOS
    return found | {"upscaler": resampling.value, "resampling": resampling}
