"""The options that the next picture is made with: those that the chosen checkpoint has.

Others came with a picture, a preset or an earlier reading of the checkpoint. They stay in the form
for a checkpoint that has them, and the engine, which refuses them, is not asked for them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from engine.api.features import Features, OptionalSetting
from engine.api.request import GenerateRequest
from engine.api.values import SamplerName, ScheduleName

if TYPE_CHECKING:
    from app.form.generation import GenerationState

MethodT = TypeVar("MethodT", SamplerName, ScheduleName)


def _of(structure: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{structure}.{name}" for name in names)


# The options that act only where an architecture has a setting, by that setting.
_OPTIONS = {
    OptionalSetting.TILING: _of("denoiser_options", "tiling"),
    OptionalSetting.FREEU: _of(
        "denoiser_options",
        *("freeu", "freeu_b1", "freeu_b2", "freeu_s1", "freeu_s2", "freeu_range"),
    ),
    OptionalSetting.PERTURBED_ATTENTION: _of(
        "guidance_options", "pag_scale", "pag_adaptive", "pag_range", "pag_layers"
    ),
    OptionalSetting.SELF_ATTENTION_GUIDANCE: _of(
        "guidance_options", "sag_scale", "sag_blur", "sag_threshold"
    ),
    OptionalSetting.SIZES: _of(
        "size_options",
        *("original", "crop", "target", "negative_original", "negative_crop", "negative_target"),
    ),
    OptionalSetting.AESTHETIC_SCORE: _of(
        "size_options", "aesthetic_score", "negative_aesthetic_score"
    ),
    OptionalSetting.VAE_TILE: ("vae_tile",),
}
_SETTINGS = {option: setting for setting, options in _OPTIONS.items() for option in options}
_DEFAULTS = GenerateRequest(prompt="")


def has_option(features: Features, option: str) -> bool:
    """Return True if an option acts on an architecture, by its place in a request."""
    if option == "clip_skip":
        return features.deepest_clip_skip > 1
    return option not in _SETTINGS or _SETTINGS[option] in features.options


def offered(chosen: MethodT | None, among: tuple[MethodT, ...] | None) -> MethodT | None:
    """Return a sampler or schedule if it is `among` those that work, else None; None for all."""
    works = chosen is None or among is None or chosen in among
    return chosen if works else None


def used_options(form: "GenerationState") -> dict[str, Any]:
    """Return the form's fields with options that the checkpoint lacks, without these options."""
    used: dict[str, Any] = {}
    for option in _lacking(form):
        _put(used, form, option, _value(_DEFAULTS, option))
    return used


def options_left_out(form: "GenerationState") -> dict[str, Any]:
    """Return the same fields with these options alone."""
    others: dict[str, Any] = {}
    for option in _lacking(form):
        _put(others, _DEFAULTS, option, _value(form, option))
    return others


def _lacking(form: "GenerationState") -> Iterator[str]:
    """Yield the options that are set and that the checkpoint lacks; none until it is read."""
    features = form.suggestions.features
    if not form.suggestions.knows_features:
        return
    if form.sampler is not offered(form.sampler, features.samplers):
        yield "sampler"
    if form.schedule is not offered(form.schedule, features.schedules):
        yield "schedule"
    if (form.clip_skip or 1) > max(features.deepest_clip_skip, 1):
        yield "clip_skip"
    for option in _SETTINGS:
        if not has_option(features, option) and _value(form, option) != _value(_DEFAULTS, option):
            yield option


def _value(values: object, option: str) -> Any:
    for step in option.split("."):
        values = getattr(values, step)
    return values


def _put(fields: dict[str, Any], rest: object, option: str, value: object) -> None:
    """Set an option in `fields`; the others of its structure are those in `rest`."""
    outer, _, name = option.rpartition(".")
    if not outer:
        fields[name] = value
        return
    structure = fields.get(outer, getattr(rest, outer))
    fields[outer] = msgspec.structs.replace(structure, **{name: value})
