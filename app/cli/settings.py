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
    """The place of a setting: the groups that it is in, from the outer one on, and its type."""

    groups: tuple[str, ...]
    kind: Any = field(repr=False)


def _places() -> Iterator[tuple[str, _Place]]:
    """Yield the name and place of every setting of a request; no name is in two groups."""
    for own in fields_of(GenerateRequest).values():
        if own.is_setting and own.structure is None:
            yield own.name, _Place((), own.kind)
        elif own.is_setting:
            yield from _inner_places((own.name,), own.structure)


def _inner_places(groups: tuple[str, ...], structure: Any) -> Iterator[tuple[str, _Place]]:
    for inner in fields_of(structure).values():
        if inner.structure is not None:
            yield from _inner_places((*groups, inner.name), inner.structure)
        # A convention's name is chosen by --convention.
        elif inner.name != "name":
            yield inner.name, _Place(groups, inner.kind)


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
        request = _with(request, (*_SETTINGS[name].groups, name), value)
    return request


def _with(before: Any, path: Sequence[str], value: Any) -> Any:
    """Return a structure with the value at a path of fields' names."""
    name, *rest = path
    if rest:
        inner = getattr(before, name)
        # A convention may be a tool's name.
        value = _with(convention_of(inner) if name == "convention" else inner, rest, value)
    return msgspec.structs.replace(before, **{name: value})
