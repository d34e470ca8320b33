"""`--set NAME=VALUE`: what a request holds beyond the options of `safelight generate`."""

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from engine.api.conventions import Convention, convention_of
from engine.api.masks import MaskOptions
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)

Setting = tuple[str, Any]

# The field of a request, and the type that declares the settings in it; no name is in two.
_GROUPS: dict[str, type[msgspec.Struct]] = {
    "sampler_options": SamplerOptions,
    "schedule_options": ScheduleOptions,
    "seed_options": SeedOptions,
    "guidance_options": GuidanceOptions,
    "size_options": SizeOptions,
    "mask_options": MaskOptions,
    "convention": Convention,
}
_OWN = ("zero_terminal_snr", "expand_wildcards")
_TYPES: dict[str, Any] = {
    field.name: field.type
    for kind in _GROUPS.values()
    for field in msgspec.structs.fields(kind)
    if field.name != "name"
} | {f.name: f.type for f in msgspec.structs.fields(GenerateRequest) if f.name in _OWN}


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option; it may be repeated."""
    names = ", ".join(_TYPES)
    parser.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"how exactly it is made, as eta=0.5; names: {names}",
    )


def parse_setting(text: str) -> Setting:
    """A name and its value from "eta=0.5"; several values are separated by commas."""
    name, equals, value = text.partition("=")
    if not equals or name not in _TYPES:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE; names: {', '.join(_TYPES)}")
    parts = [part.strip() for part in value.split(",")]
    for form in (value, parts):
        try:
            return name, msgspec.convert(form, _TYPES[name], strict=False)
        except msgspec.ValidationError:
            continue
    raise argparse.ArgumentTypeError(f"{value!r} is no value of {name}")


def with_settings(request: GenerateRequest, settings: Sequence[Setting]) -> GenerateRequest:
    """The request with these settings; the later one counts where a name is repeated."""
    given = dict(settings)
    changes: dict[str, Any] = {name: given[name] for name in _OWN if name in given}
    for group, kind in _GROUPS.items():
        names = set(kind.__struct_fields__) & set(given)
        if names:
            before = getattr(request, group)
            options = convention_of(before) if group == "convention" else before
            changes[group] = msgspec.structs.replace(options, **{n: given[n] for n in names})
    return msgspec.structs.replace(request, **changes)
