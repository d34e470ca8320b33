"""The settings in which pictures differ."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ui.picture_facts import Fact

# The value of a setting that a picture does not tell.
_UNTOLD = "\N{EN DASH}"
_LONGEST = 2000


class Difference(NamedTuple):
    """A setting's name, and its value in each of the pictures."""

    label: str
    values: tuple[str, ...]


def differing(pictures: Sequence[Sequence[Fact]]) -> list[Difference]:
    """Return the settings that are not the same in all pictures, in the order of the first ones.

    Every file has a name and a time of its own: these are left out.
    """
    translate = QCoreApplication.translate
    own = (translate("facts", "Saved"), translate("facts", "File"))
    told = [{fact.label: fact.text[:_LONGEST] for fact in facts} for facts in pictures]
    labels = dict.fromkeys(label for facts in told for label in facts if label not in own)
    rows = (
        Difference(label, tuple(settings.get(label, _UNTOLD) for settings in told))
        for label in labels
    )
    return [row for row in rows if len(set(row.values)) > 1]
