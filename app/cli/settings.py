"""`--set NAME=VALUE`: fields of a request that have no option of their own."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.api.conventions import convention_of
from engine.api.fields import fields_of
from engine.api.request import GenerateRequest

Setting = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a setting in a request; `group` is None for a field of the request itself."""

    group: str | None
    kind: Any = field(repr=False)


def _places() -> Iterator[tuple[str, _Place]]:
    """Yield the name and place of every setting of a request; no name is in two groups."""
    for own in fields_of(GenerateRequest).values():
        if not own.is_setting:
            continue
        if own.structure is None:
            yield own.name, _Place(None, own.kind)
            continue
        for inner in fields_of(own.structure).values():
            # A convention's name is chosen by --convention.
            if inner.name != "name":
                yield inner.name, _Place(own.name, inner.kind)


_SETTINGS = dict(_places())


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option; it may be repeated."""
    names = ", ".join(_SETTINGS)
    parser.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"how exactly it is made, as eta=0.5; names: {names}",
    )


def parse_setting(text: str) -> Setting:
    """Return name and value of a text such as "eta=0.5"; commas separate several values."""
    name, equals, value = text.partition("=")
    if not equals or name not in _SETTINGS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no NAME=VALUE; names: {', '.join(_SETTINGS)}"
        )
    parts = [part.strip() for part in value.split(",")]
    for form in (value, parts):
        try:
            return name, msgspec.convert(form, _SETTINGS[name].kind, strict=False)
        except msgspec.ValidationError:
            continue
    raise argparse.ArgumentTypeError(f"{value!r} is no value of {name}")


def with_settings(request: GenerateRequest, settings: Sequence[Setting]) -> GenerateRequest:
    """Return the request with these settings; of a repeated name the last one counts."""
    for name, value in settings:
        group = _SETTINGS[name].group
        changes: dict[str, Any] = {name: value}
        if group is not None:
            before = getattr(request, group)
            options = convention_of(before) if group == "convention" else before
            changes = {group: msgspec.structs.replace(options, **changes)}
        request = msgspec.structs.replace(request, **changes)
    return request
