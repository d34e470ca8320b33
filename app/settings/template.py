"""The settings file as it is first written: every setting, as a comment, with its sentence."""

from textwrap import wrap

import msgspec

from app.settings.migrations import VERSION
from app.settings.toml_text import value_text
from app.settings.values import stated

_WIDTH = 78
_HEAD = (
    "Settings of Safelight. The window changes this file, and takes over what you change in it."
    " A setting behind a # is as usual: take the # away to set it."
)


def new_text() -> str:
    """Return the text of a file in which every setting is as usual."""
    paragraphs = [_comment(_HEAD), f"version = {VERSION}\n"]
    for setting in stated().values():
        value = value_text(msgspec.to_builtins(setting.default))
        paragraphs.append(f"{_comment(setting.about)}# {setting.name} = {value}\n")
    return "\n".join(paragraphs)


def _comment(sentences: str) -> str:
    return "".join(f"# {line}\n" for line in wrap(sentences, _WIDTH))
