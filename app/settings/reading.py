"""Reads the settings file, whatever is in it; nothing here changes a file."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from app.settings.migrations import MIGRATIONS, Migration, migrated
from app.settings.toml_text import Table, parse
from app.settings.values import USUAL, Settings, converted, stated
from engine.regular_file import read_when_free

FILE = "settings.toml"
MOST_BYTES = 256 << 10


class Fault(StrEnum):
    """Why a settings file cannot be used."""

    DAMAGED = "damaged"
    NEWER = "newer"
    UNREADABLE = "unreadable"


class Reading(msgspec.Struct, frozen=True):
    """A settings file as it was read.

    `text` is its content in the newest version, None where there is no file or it has a `fault`;
    `detail` says more about the fault. `refused` are the settings whose values cannot be used, and
    which are as usual.
    """

    settings: Settings = USUAL
    text: str | None = None
    fault: Fault | None = None
    detail: str = ""
    refused: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is no file, or nothing in it."""
        return self.fault is None and not (self.text or "").strip()


def read_settings(path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> Reading:
    """Read a file of any version so far; without one, every setting is as usual. Never raises."""
    try:
        content = read_when_free(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return Reading()
    except OSError as error:
        return Reading(fault=Fault.UNREADABLE, detail=str(error))
    except ValueError as error:
        return Reading(fault=Fault.DAMAGED, detail=str(error))
    try:
        # Editors of Windows may begin a file with a byte order mark.
        text = content.decode("utf-8-sig")
        table = parse(text)
    except ValueError as error:
        return Reading(fault=Fault.DAMAGED, detail=str(error))
    newest = 1 + len(migrations)
    version = table.get("version", newest)
    if not isinstance(version, int) or version < 1:
        return Reading(fault=Fault.DAMAGED, detail=f"version = {version!r}")
    if version > newest:
        return Reading(fault=Fault.NEWER, detail=f"version = {version}")
    try:
        text = migrated(text, version, migrations)
    except ValueError as error:
        return Reading(fault=Fault.DAMAGED, detail=str(error))
    settings, refused = settings_of(parse(text))
    return Reading(settings=settings, text=text, refused=refused)


def settings_of(table: Table) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of a table, and the names of those whose values cannot be used."""
    values: dict[str, Any] = {}
    refused: list[str] = []
    for name in stated():
        if name not in table:
            continue
        try:
            values[name] = converted(name, table[name])
        except msgspec.ValidationError:
            refused.append(name)
    return Settings(**values), tuple(refused)
