"""The options of the form by their places in a request, as in "sampler_options.eta"."""

from enum import StrEnum
from typing import Any

import msgspec

from app.form.generation import GenerationState
from app.form.used_options import has_option
from engine.api.denoiser_options import FreeUVersion
from engine.api.fields import RequestField, fields_of
from engine.api.methods import SCHEDULE_OPTIONS, options_of
from engine.api.request import GenerateRequest
from engine.api.values import InputRole

# The part of the steps with guidance, counted from the first, that "Faster guidance" means:
# without it a step computes one prediction and not two.
FASTER_GUIDANCE = (0.0, 0.5)


class OptionGroup(StrEnum):
    """Options that are shown together."""

    TEXT = "text"
    METHOD = "method"
    GUIDANCE = "guidance"
    DENOISER = "denoiser"
    NOISE = "noise"
    SIZES = "sizes"
    MASK = "mask"
    MACHINE = "machine"


def _of(structure: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{structure}.{name}" for name in names)


GROUPS = {
    OptionGroup.TEXT: ("clip_skip", "zero_terminal_snr", "expand_wildcards"),
    OptionGroup.METHOD: (
        *_of("sampler_options", "eta", "noise_scale", "churn", "churn_from", "churn_to"),
        *_of("schedule_options", "sigma_min", "sigma_max", "rho"),
    ),
    OptionGroup.GUIDANCE: (
        *_of("guidance_options", "true_cfg", "range", "rescale"),
        *_of("guidance_options", "pag_scale", "pag_adaptive", "pag_range", "pag_layers"),
        *_of("guidance_options", "sag_scale", "sag_blur", "sag_threshold"),
    ),
    OptionGroup.DENOISER: _of(
        "denoiser_options",
        *("tiling", "freeu", "freeu_b1", "freeu_b2", "freeu_s1", "freeu_s2", "freeu_range"),
    ),
    OptionGroup.NOISE: (
        *_of("seed_options", "variation_strength", "variation_seed", "resize_from"),
        *_of("seed_options", "eta_seed_delta", "batch_index", "batch_size"),
    ),
    OptionGroup.SIZES: (
        *_of("size_options", "original", "crop", "target"),
        *_of("size_options", "negative_original", "negative_crop", "negative_target"),
        *_of("size_options", "aesthetic_score", "negative_aesthetic_score"),
    ),
    OptionGroup.MASK: _of(
        "mask_options", "only_masked", "padding", "content", "blur", "inverted", "feather"
    ),
    OptionGroup.MACHINE: (
        *("precision", "weight_bits", "text_weight_bits", "memory_limit_bytes"),
        *("device_memory_limit_bytes", "vae_tile", "lora_mode"),
    ),
}


# Options that are kept while they do not act, and left out of requests.
_WAITING = ("sampler_options", "schedule_options", "mask_options")


def option_field(option: str) -> RequestField:
    """Return the declaration of an option in the request."""
    owner: type[msgspec.Struct] = GenerateRequest
    *outer, name = option.split(".")
    for step in outer:
        structure = fields_of(owner)[step].structure
        assert structure is not None
        owner = structure
    return fields_of(owner)[name]


def option_value(form: GenerationState, option: str) -> Any:
    """Return an option's value in the form."""
    value: Any = form
    for step in option.split("."):
        value = getattr(value, step)
    return value


def set_option(form: GenerationState, option: str, value: object) -> None:
    """Set an option in the form."""
    outer, _, name = option.rpartition(".")
    if outer:
        value = msgspec.structs.replace(getattr(form, outer), **{name: value})
    setattr(form, outer or name, value)


def is_set(form: GenerationState, option: str) -> bool:
    """Return True if an option is not left at its default."""
    return bool(option_value(form, option) != option_field(option).default)


def is_shown(form: GenerationState, option: str) -> bool:
    """Return True for an option that acts with the present settings.

    What is set is shown, too, unless it waits for another sampler, schedule, mask or checkpoint.
    """
    known = form.suggestions
    waits = option.partition(".")[0] in _WAITING
    waits = waits or (known.knows_features and not has_option(known.features, option))
    return _acts(form, option) or (is_set(form, option) and not waits)


def _acts(form: GenerationState, option: str) -> bool:
    features, effective = form.suggestions.features, form.effective
    group, _, name = option.rpartition(".")
    if not has_option(features, option):
        return False
    match group, name:
        case "sampler_options", _:
            return name in options_of(effective.sampler)
        case "schedule_options", _:
            return name in SCHEDULE_OPTIONS.get(effective.schedule, ())
        case "guidance_options", _:
            return _guides(form, name)
        case "denoiser_options", _ if name.startswith("freeu_"):
            return form.denoiser_options.freeu is not FreeUVersion.OFF
        case "seed_options", "variation_seed":
            return form.seed_options.is_varied
        case "mask_options", _:
            return _acts_on_mask(form, name)
        case _, "zero_terminal_snr":
            # A declaration about the checkpoint takes its place.
            return False
        case _:
            return True


def _guides(form: GenerationState, name: str) -> bool:
    features, options = form.suggestions.features, form.guidance_options
    match name:
        case "pag_scale" | "sag_scale":
            return True
        case "pag_adaptive" | "pag_range" | "pag_layers":
            return options.pag_scale > 0
        case "sag_blur" | "sag_threshold":
            return options.sag_scale != 0
        case "true_cfg":
            return features.takes_true_cfg
        case _:
            return features.sees_negative(options.true_cfg)


def _acts_on_mask(form: GenerationState, name: str) -> bool:
    options = form.mask_options
    match name:
        case "padding":
            return options.only_masked
        case "feather":
            return options.expands
        case "only_masked":
            # What is new around a grown canvas is painted with the whole.
            return form.input_path(InputRole.MASK) is not None and not options.expands
        case "content":
            return form.input_path(InputRole.MASK) is not None or options.expands
        case _:
            return form.input_path(InputRole.MASK) is not None
