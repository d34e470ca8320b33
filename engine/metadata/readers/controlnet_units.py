"""The units of sd-webui-controlnet in AUTOMATIC1111's text: control layers and image prompts.

After `internal_controlnet/args.py` (`ControlNetUnit.serialize`), which writes "Module: canny, ..."
under "ControlNet 0", and its two older notations: "preprocessor: canny, ..." under the same key,
and a key for each value, "ControlNet-0 Module" or "ControlNet Module". The pictures are in none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from engine.api.control import MAX_CONTROLS, ControlLayer, ControlMode, ControlResize
from engine.api.fields import bounds_of
from engine.api.image_prompts import MAX_IMAGE_PROMPTS, ImagePrompt
from engine.api.preprocessors import ControlKind, MapOptions
from engine.metadata.infotext import Parameter
from engine.metadata.readers.controlnet_modules import (
    IMAGE_PROMPT_MODULES,
    INPAINT_MODULES,
    MODULES,
    REFERENCE_MODULE,
    UNREAD_MODULES,
    Module,
)
from engine.metadata.readers.controls import PICTURES_MISSING, no_map_of, number_of, span_of
from engine.metadata.readers.imported import plain
from engine.metadata.readers.named_files import file_name, hash_digits

_WHOLE = re.compile(r"control ?net(?: (\d{1,3}))?", re.IGNORECASE)
_APART = re.compile(r"ControlNet(?:-(\d{1,3}))? (\w[\w ]{0,40})")
# A pair inside a unit; a value in parentheses has commas.
_PAIR = re.compile(r"\s*([A-Za-z][\w /]{0,40}): (\([^)]{0,200}\)|[^,]{0,300})(?:,|$)")
_MODEL = re.compile(r"(.{1,300}?)(?: \[([0-9a-f]{6,64})\])?")
_NUMBERS = re.compile(r"-?[\d.]{1,20}")
_MODES = {
    "balanced": ControlMode.BALANCED,
    "my prompt is more important": ControlMode.PROMPT,
    "controlnet is more important": ControlMode.CONTROL,
}
_RESIZES = {
    "just resize": ControlResize.STRETCH,
    "crop and resize": ControlResize.CROP,
    "scale to fit (inner fit)": ControlResize.CROP,
    "inner fit (scale to fit)": ControlResize.CROP,
    "resize and fill": ControlResize.FILL,
    "envelope (outer fit)": ControlResize.FILL,
    "outer fit (shrink to fit)": ControlResize.FILL,
}
# The keys of older notations, by those of the newest.
_OLDER = {"preprocessor": "module"}
# Modules that put the kept part of their picture back into the finished one.
_PUTS_BACK = "inpaint_only"


class Units(msgspec.Struct):
    """The control layers and image prompts of a text, and sentences about what was left out."""

    controls: tuple[ControlLayer, ...] = ()
    image_prompts: tuple[ImagePrompt, ...] = ()
    remarks: list[str] = msgspec.field(default_factory=list[str])


def controlnet_units(parameters: Iterable[Parameter]) -> tuple[Units, tuple[str, ...]]:
    """Return the units that are switched on, and the keys that they were read from."""
    found, keys = Units(), list[str]()
    written: dict[int, dict[str, str]] = {}
    for pair in parameters:
        whole, apart = _WHOLE.fullmatch(pair.key), _APART.fullmatch(pair.key)
        if whole is not None:
            written.setdefault(int(whole[1] or 0), {}).update(_pairs(pair.value))
        elif apart is not None:
            written.setdefault(int(apart[1] or 0), {})[apart[2].lower()] = pair.value
        else:
            continue
        keys.append(pair.key)
    units = (unit for _, unit in sorted(written.items()) if unit.get("enabled", "True") == "True")
    for unit in islice(units, MAX_CONTROLS + MAX_IMAGE_PROMPTS):
        _add(unit, found)
    if found.controls or found.image_prompts:
        found.remarks.append(PICTURES_MISSING)
    return found, tuple(keys)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for match in _PAIR.finditer(text):
        key = match[1].lower()
        yield _OLDER.get(key, key), match[2].strip()


def _add(unit: Mapping[str, str], found: Units) -> None:
    """Add a unit to what was found, or a remark about it."""
    module = unit.get("module", "none").lower()
    named = _MODEL.fullmatch(unit.get("model", ""))
    network = file_name(named[1]) if named else ""
    digits = hash_digits(named[2]) if named else None
    shown = plain(unit.get("module", ""))
    if module == REFERENCE_MODULE:
        network, digits = "", None
    needs_none = module in INPAINT_MODULES or module == REFERENCE_MODULE
    if module in UNREAD_MODULES or not (network or needs_none):
        found.remarks.append(
            f'What "{shown}" adds to the picture is not available; it is left out.'
        )
        return
    if module in IMAGE_PROMPT_MODULES or network.lower().startswith("ip-adapter"):
        prompt = ImagePrompt(
            image="", adapter=network, weight=_weight(unit, found), range=_range(unit), hash=digits
        )
        found.image_prompts = (*found.image_prompts, prompt)[:MAX_IMAGE_PROMPTS]
        return
    layer = ControlLayer(
        image="",
        network=network or None,
        preprocessor=_preprocessor(unit, MODULES.get(module)),
        weight=_weight(unit, found),
        range=_range(unit),
        mode=_MODES.get(unit.get("control mode", "").lower(), ControlMode.BALANCED),
        resize=_RESIZES.get(unit.get("resize mode", "").lower(), ControlResize.CROP),
        kind=ControlKind.INPAINT if module in INPAINT_MODULES else None,
        hash=digits,
    )
    found.controls = (*found.controls, layer)[:MAX_CONTROLS]
    if module.startswith(_PUTS_BACK):
        found.remarks.append(
            f'The part of its picture that "{shown}" keeps is followed, and not put back into the '
            "result: paint over the picture itself to keep it."
        )
    if module not in MODULES and module not in INPAINT_MODULES and module != "none":
        found.remarks.append(no_map_of(shown))


def _weight(unit: Mapping[str, str], found: Units) -> float:
    weight = number_of(unit.get("weight", ""))
    low, high = bounds_of(ControlLayer, "weight")
    if weight is not None and low <= weight <= high:
        return weight
    if "weight" in unit:
        found.remarks.append(f'The weight "{plain(unit["weight"])}" was not taken over.')
    return 1.0


def _range(unit: Mapping[str, str]) -> tuple[float, float]:
    """Return the start and the end of the unit's effect, as fractions of the steps."""
    numbers = _NUMBERS.findall(unit.get("starting/ending", ""))
    start = unit.get("guidance start", numbers[0] if len(numbers) == 2 else "0")
    end = unit.get("guidance end", numbers[1] if len(numbers) == 2 else "1")
    return span_of(start, end)


def _preprocessor(unit: Mapping[str, str], module: Module | None) -> MapOptions | None:
    """Return the options of a module; a value that is out of bounds is the default, as there."""
    if module is None:
        return None
    numbers = [*_NUMBERS.findall(unit.get("preprocessor params", "")), "", "", ""]
    values = {
        name: number_of(unit.get(key, old))
        for name, key, old in zip(
            ("resolution", *module.thresholds),
            ("processor res", "threshold a", "threshold b"),
            numbers,
            strict=False,
        )
    }
    usual, names = module.options, module.options.__struct_fields__
    chosen: dict[str, float | None] = {}
    for name, value in values.items():
        if name in names and value is not None:
            low, high = bounds_of(type(usual), name)
            if low <= value <= high:
                chosen[name] = int(value) if isinstance(getattr(usual, name), int) else value
    if unit.get("pixel perfect") == "True" and "resolution" in names:
        chosen["resolution"] = None
    return msgspec.structs.replace(usual, **chosen)
