"""The versions of the settings file, and the changes that bring an older file to the present one.

A setting that is no more needs no change: names that are no settings are passed over.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.settings.toml_text import parse, put


class Migration(msgspec.Struct, frozen=True):
    """The changes from one version to the next: `renamed` settings, and other words for values.

    `values` has for a setting, by its new name, the new value of each old text that has one.
    """

    renamed: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, Any]] = msgspec.field(
        default_factory=dict[str, Mapping[str, Any]]
    )

    def apply(self, text: str) -> str:
        """Return a document of the version before as one of the next. Raises ValueError."""
        for old, new in self.renamed.items():
            table = parse(text)
            if old in table:
                text = put(text, old, None)
                # Whoever wrote the new name as well knows it.
                text = text if new in table else put(text, new, table[old])
        for name, words in self.values.items():
            value = parse(text).get(name)
            if isinstance(value, str) and value in words:
                text = put(text, name, words[value])
        return text


# The first leads from version 1 to version 2, and so on.
MIGRATIONS: tuple[Migration, ...] = ()
VERSION = 1 + len(MIGRATIONS)


def migrated(text: str, version: int, migrations: Sequence[Migration]) -> str:
    """Return a document of a version as one of the newest, which it also says. Raises ValueError.

    Comments and unknown names stay.
    """
    if version > len(migrations):
        return text
    for migration in migrations[version - 1 :]:
        text = migration.apply(text)
    return put(text, "version", 1 + len(migrations))
