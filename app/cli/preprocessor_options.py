"""Options of a preprocessor as they are typed: NAME=VALUE."""

from typing import Any

import msgspec

from app.cli.terminal import Usage
from engine.api.fields import fields_of
from engine.api.preprocessors import PREPROCESSORS, MapOptions, PreprocessorName


def chosen_options(name: PreprocessorName, given: list[str]) -> MapOptions:
    """Return the options of "name=value" texts. Raises Usage."""
    kind = PREPROCESSORS[name].options
    fields = fields_of(kind)
    values: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or key not in fields:
            names = ", ".join(fields) or "none"
            raise Usage(f"{text!r} is no NAME=VALUE; options of {name}: {names}")
        try:
            values[key] = msgspec.convert(value, fields[key].kind, strict=False)
        except msgspec.ValidationError:
            raise Usage(f"{value!r} is no value of {key}") from None
    return kind(**values)
