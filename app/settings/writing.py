"""The new text of the settings file, with what a person wrote in it kept."""

import os
from collections.abc import Collection
from pathlib import Path

import msgspec

from app.settings.reading import Reading
from app.settings.template import new_text
from app.settings.toml_text import put
from app.settings.values import USUAL, Settings, stated
from engine.durable import replace_file


def write_settings(
    path: Path, reading: Reading, settings: Settings, names: Collection[str]
) -> None:
    """Write these settings into the file as it was read; all of them where that had no text.

    Raises OSError, and ValueError for a text that no file can hold.
    """
    text, wanted = reading.text, names
    if text is None:
        text, wanted = new_text(), tuple(stated())
    for name in (name for name in stated() if name in wanted):
        value = getattr(settings, name)
        kept = None if value == getattr(USUAL, name) else msgspec.to_builtins(value)
        text = put(text, name, kept)
    # A link, as those who keep their settings elsewhere have, stays one.
    replace_file(Path(os.path.realpath(path)), text.encode(), durable=True)
