"""Control layers as the units of sd-webui-controlnet, which AUTOMATIC1111 reads back.

After `internal_controlnet/args.py` (`ControlNetUnit.serialize`); the names of preprocessors are
those of `scripts/preprocessor/`.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from engine.api.control import ControlLayer, ControlMode, ControlReport, ControlResize
from engine.api.image_prompts import ImagePrompt, ImagePromptReport
from engine.api.preprocessors import ControlKind, MapOptions, PreprocessorName, name_of
from engine.api.weight_suffixes import weights_name
from engine.metadata.infotext import number_text

# The names of preprocessors that have another one there; an option may choose between two.
_MODULES: Mapping[PreprocessorName, str] = MappingProxyType(
    {
        PreprocessorName.COLOR_GRID: "t2ia_color_grid",
        PreprocessorName.LINEART: "lineart_realistic",
        PreprocessorName.DW_OPENPOSE: "dw_openpose_full",
        # These exist here alone: a map that is given.
        PreprocessorName.NORMAL_DEPTH: "none",
        PreprocessorName.ONNX: "none",
    }
)
_SAFE_MODULES: Mapping[PreprocessorName, str] = MappingProxyType(
    {
        PreprocessorName.SOFTEDGE_HED: "softedge_hedsafe",
        PreprocessorName.SOFTEDGE_PIDINET: "softedge_pidisafe",
    }
)
_THRESHOLDS = MappingProxyType(
    {
        "low": "Threshold A",
        "high": "Threshold B",
        "threshold": "Threshold A",
        "sigma": "Threshold A",
        "style_fidelity": "Threshold A",
        "gamma": "Threshold A",
        "down_sampling_rate": "Threshold A",
    }
)
_MODES = MappingProxyType(
    {
        ControlMode.BALANCED: "Balanced",
        ControlMode.PROMPT: "My prompt is more important",
        ControlMode.CONTROL: "ControlNet is more important",
    }
)
_RESIZES = MappingProxyType(
    {
        ControlResize.STRETCH: "Just Resize",
        ControlResize.CROP: "Crop and Resize",
        ControlResize.FILL: "Resize and Fill",
    }
)
# "inpaint_only" also puts the part that is kept back into the finished picture, with blurred edges.
_INPAINTING = "inpaint_global_harmonious"
_Report = ControlReport | ImagePromptReport
# Marks that end a value.
_NOT_IN_NAMES = str.maketrans("", "", ',:"[]')


def control_units(
    controls: tuple[ControlLayer, ...],
    image_prompts: tuple[ImagePrompt, ...],
    known: Mapping[str, _Report] = MappingProxyType({}),
) -> Iterator[tuple[str, str]]:
    """Yield a pair for each layer and image prompt, numbered as the units of one window.

    `known` has what a record tells of files, by their paths; of others, the name has the hash that
    the picture of another tool gave them.
    """
    units = (
        *(_layer(layer, known.get(layer.network or "")) for layer in controls),
        *(_image_prompt(prompt, known.get(prompt.adapter or "")) for prompt in image_prompts),
    )
    for number, unit in enumerate(units):
        yield f"ControlNet {number}", ", ".join(f"{key}: {value}" for key, value in unit)


def _layer(layer: ControlLayer, report: _Report | None) -> Iterator[tuple[str, str]]:
    yield "Module", _module(layer, report)
    yield "Model", _name(layer.network, layer.hash, report)
    yield "Weight", number_text(layer.weight)
    yield "Resize Mode", _RESIZES[layer.resize]
    yield from _options(layer.preprocessor)
    yield "Guidance Start", number_text(layer.range[0])
    yield "Guidance End", number_text(layer.range[1])
    yield "Control Mode", _MODES[layer.mode]


def _image_prompt(prompt: ImagePrompt, report: _Report | None) -> Iterator[tuple[str, str]]:
    yield "Module", "ip-adapter-auto"
    yield "Model", _name(prompt.adapter, prompt.hash, report)
    yield "Weight", number_text(prompt.weight)
    yield "Guidance Start", number_text(prompt.range[0])
    yield "Guidance End", number_text(prompt.range[1])


def _module(layer: ControlLayer, report: _Report | None) -> str:
    options = layer.preprocessor
    if options is None:
        told = report.kind if isinstance(report, ControlReport) else None
        return _INPAINTING if (layer.kind or told) is ControlKind.INPAINT else "none"
    name = name_of(options)
    is_safe = getattr(options, "safe", False)
    return _SAFE_MODULES[name] if is_safe else _MODULES.get(name, name.value)


def _options(options: MapOptions | None) -> Iterator[tuple[str, str]]:
    """Yield the resolution and the thresholds of a preprocessor."""
    if options is None:
        return
    for name in sorted(options.__struct_fields__):
        value = getattr(options, name)
        if name == "resolution" and value is None:
            yield "Pixel Perfect", "True"
        elif name == "resolution":
            yield "Processor Res", str(value)
        elif name in _THRESHOLDS:
            yield _THRESHOLDS[name], number_text(value)


def _name(file: str | None, stated: str | None, report: _Report | None) -> str:
    digits = (report.short_hash if report else "") or stated
    plain = weights_name(file or "None").translate(_NOT_IN_NAMES)
    return f"{plain} [{digits}]" if digits else plain
