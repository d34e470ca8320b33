"""Paths in the form in which folders list them, for those that come from Qt on a Mac.

There a name with accents is found in either form of Unicode, but a folder lists it in the form in
which it was made: Finder makes the decomposed one, and Qt gives the composed one, in its questions
for files and elsewhere (`QFile::decodeName`). As texts these are two files.
"""

import os
import sys
from pathlib import Path
from unicodedata import normalize


def as_listed(path: str) -> str:
    """Return a path that Qt gave, as our own lists of files have it."""
    return listed_form(path) if sys.platform == "darwin" and path else path


def listed_form(path: str) -> str:
    """Return a path with each name as its folder lists it; one that is in no list stays."""
    if path.isascii():
        return path
    anchor, *names = Path(path).parts
    found = anchor
    for name in names:
        found = os.path.join(found, _listed(found, name))  # noqa: PTH118
    return found


def _listed(folder: str, name: str) -> str:
    if name.isascii():
        return name
    try:
        names = [entry.name for entry in Path(folder).iterdir()]
    except OSError:
        return name
    composed = normalize("NFC", name)
    alike = [other for other in names if normalize("NFC", other) == composed]
    return name if name in alike or not alike else alike[0]
