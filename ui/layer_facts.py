"""Lines on what a picture followed and how it was redrawn: masks, layers and second passes."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale

from app.form.layer_kinds import file_name
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.fields import fields_of
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from engine.api.masks import MaskOptions
from engine.api.preprocessors import MapOptions, name_of
from engine.api.request import GenerateRequest
from engine.api.second_passes import Resampling, SecondPass
from engine.api.values import InputRole
from engine.api.weight_suffixes import weights_name
from ui.choice_labels import automatic, choice_label
from ui.labels import short_number, size_label, steps_label
from ui.layer_labels import (
    blocks_words,
    combination_words,
    control_kind_name,
    map_option_words,
    mode_words,
    preprocessor_title,
    resize_words,
    scaling_words,
)
from ui.method_labels import method_name
from ui.second_pass_labels import upscaler_words

translate = QCoreApplication.translate

_USUAL = MaskOptions()


def mask_line(request: GenerateRequest) -> str:
    """Return how a mask acted, empty without a mask."""
    options = request.mask_options
    is_masked = any(image.role is InputRole.MASK for image in request.inputs)
    return " · ".join(_mask(options)) if is_masked or options.expands else ""


def control_lines(request: GenerateRequest) -> str:
    """Return a line for each control layer in use."""
    layers = (layer for layer in request.controls if layer.enabled)
    return "\n".join(" · ".join(filter(None, _control(layer))) for layer in layers)


def image_prompt_lines(request: GenerateRequest) -> str:
    """Return a line for each image prompt in use."""
    prompts = (prompt for prompt in request.image_prompts if prompt.enabled)
    return "\n".join(" · ".join(filter(None, _image_prompt(prompt))) for prompt in prompts)


def second_pass_lines(request: GenerateRequest) -> str:
    """Return a line for each second pass."""
    return "\n".join(" · ".join(filter(None, _pass(second))) for second in request.second_passes)


def _mask(options: MaskOptions) -> Iterator[str]:
    if options.only_masked:
        margin = translate("facts", "only the part, with a margin of {n}")
        yield margin.format(n=options.padding)
    if options.blur is not None:
        yield translate("facts", "soft edge {n}").format(n=options.blur)
    if options.inverted:
        yield translate("facts", "inverted")
    if options.content is not None:
        begun = translate("facts", "begins with: {content}")
        yield begun.format(content=choice_label(options.content))
    if options.expands:
        left, top, right, bottom = options.expand
        grown = translate(
            "facts", "grown by {left} left, {top} at the top, {right} right, {bottom} at the bottom"
        )
        yield grown.format(left=left, top=top, right=right, bottom=bottom)
        if options.feather != _USUAL.feather:
            yield translate("facts", "faded over {n}").format(n=options.feather)


def _control(layer: ControlLayer) -> Iterator[str]:
    yield _stem(layer.network)
    if layer.preprocessor is not None:
        yield preprocessor_title(name_of(layer.preprocessor))
        yield from _map_options(layer.preprocessor)
        yield _stem(layer.preprocessor_weights)
    if layer.kind is not None:
        yield control_kind_name(layer.kind)
    yield Path(layer.image).name
    yield from _strength(layer.weight, layer.range)
    if layer.mode is not ControlMode.BALANCED:
        yield mode_words(layer.mode)[0]
    if layer.resize is not ControlResize.CROP:
        yield resize_words(layer.resize)[0]
    yield _masked(layer.mask)


def _map_options(options: MapOptions) -> Iterator[str]:
    for name, field in fields_of(type(options)).items():
        value = getattr(options, name)
        if value != field.default:
            yield f"{map_option_words(field)[0]} {_value(value)}"


def _image_prompt(prompt: ImagePrompt) -> Iterator[str]:
    yield _stem(prompt.adapter)
    yield ", ".join(Path(image).name for image in (prompt.image, *prompt.further) if image)
    yield from _strength(prompt.weight, prompt.range)
    if prompt.blocks is not AdapterBlocks.ALL:
        yield blocks_words(prompt.blocks)[0]
    if prompt.scaling is not AdapterScaling.VALUES:
        yield scaling_words(prompt.scaling)[0]
    if prompt.combination is not PictureCombination.CONCAT:
        yield combination_words(prompt.combination)[0]
    yield _stem(prompt.encoder)
    yield _masked(prompt.mask)


def _pass(second: SecondPass) -> Iterator[str]:
    if second.width is not None and second.height is not None:
        yield size_label(second.width, second.height)
    elif second.width is not None:
        yield translate("facts", "{n} wide").format(n=second.width)
    elif second.height is not None:
        yield translate("facts", "{n} high").format(n=second.height)
    else:
        factor = QLocale().toString(second.scale, "g", 6)
        yield translate("facts", "{factor} times").format(factor=factor)
    yield upscaler_words(second.upscaler)[0]
    if second.resampling is not Resampling.LANCZOS:
        yield upscaler_words(second.resampling)[0]
    yield translate("facts", "strength {n}").format(n=short_number(second.strength, 4))
    if second.steps is not None:
        yield steps_label(second.steps)
    yield from (method_name(way) for way in (second.sampler, second.schedule) if way is not None)
    yield _stem(second.checkpoint)
    if second.tile is not None:
        yield translate("facts", "in tiles of {n}").format(n=second.tile)
    for label, value in (
        (translate("facts", "Guidance"), second.guidance),
        (translate("facts", "Seed"), second.seed),
        (translate("facts", "Prompt"), second.prompt),
        (translate("facts", "Negative prompt"), second.negative_prompt),
    ):
        if value is not None:
            yield f"{label}: {_value(value)}"


def _stem(file: str | None) -> str:
    return weights_name(file_name(file)) if file else ""


def _value(value: object) -> str:
    match value:
        case None:
            return automatic()
        case bool():
            return choice_label(value)
        case float():
            return short_number(value, 4)
        case _:
            return str(value)


def _strength(weight: float, span: tuple[float, float]) -> Iterator[str]:
    yield translate("facts", "weight {n}").format(n=short_number(weight, 4))
    if span != (0.0, 1.0):
        start, end = (round(100 * part) for part in span)
        yield translate("facts", "from {start} to {end} % of the steps").format(
            start=start, end=end
        )


def _masked(mask: str | None) -> str:
    return translate("facts", "within {mask}").format(mask=Path(mask).name) if mask else ""
