"""The licences of everything that Safelight is made of; reads files, so call it in the background.

An installed Safelight has a folder of them at its root, made when it was built. In a checkout they
are those of the installed packages that it requires.
"""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from app.installation import installed_root

# In the folder of licences: what is shipped, with the places of each text.
_FOLDER, _OVERVIEW = "licences", "THIRD-PARTY.txt"
_IS_TEXT = re.compile(r"licen[cs]e|notice|copying", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_MOST_CHARACTERS = 400_000


class Licence(NamedTuple):
    """A part of Safelight, its version, and its licence in words and as a whole."""

    name: str
    version: str
    licence: str
    text: str


def licences() -> tuple[Licence, ...]:
    """Return the licences, Safelight's own first."""
    root = installed_root()
    if root is not None and (root / _FOLDER).is_dir():
        return tuple(_built(root))
    own, *others = map(_of_package, _packages("safelight"))
    return (own._replace(name="Safelight"), *others)


def _built(root: Path) -> Iterator[Licence]:
    version = metadata.version("safelight")
    yield Licence("Safelight", version, "Apache-2.0", _read(root / "LICENSE"))
    for section in _read(root / _FOLDER / _OVERVIEW).split("\n\n"):
        head, *lines = section.strip().splitlines() or [""]
        part, colon, licence = head.partition(": ")
        name, space, version = part.rpartition(" ")
        if not (colon and space):
            continue
        places = [line.strip() for line in lines if line.startswith("  ")]
        found = (root / _FOLDER / place for place in places)
        beside = (root / place for place in places)
        texts = filter(None, map(_read, (*found, *beside)))
        yield Licence(name, version, licence, "\n\n".join(texts))


def _packages(first: str) -> list[metadata.Distribution]:
    """Return an installed package and all that it requires without extras, by name."""
    found: dict[str, metadata.Distribution] = {}
    wanted = [first]
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            # It is for another system, or for another Python.
            continue
        for requirement in found[name].requires or ():
            match = _NAME.match(requirement)
            if match is not None and "extra ==" not in requirement:
                wanted.append(match[0])
    own = found.pop(first)
    return [own, *(found[name] for name in sorted(found))]


def _of_package(package: metadata.Distribution) -> Licence:
    facts = package.metadata
    keys = (key for key in ("License-Expression", "License") if key in facts)
    stated = next((facts[key] for key in keys), "")
    words = stated.strip().splitlines()[:1]
    files = (file for file in package.files or () if _IS_TEXT.search(file.name))
    texts = (_read(Path(str(package.locate_file(file)))) for file in files if file.suffix != ".py")
    text = "\n\n".join(dict.fromkeys(filter(None, texts)))
    classified = (
        line.rpartition(" :: ")[2]
        for line in facts.get_all("Classifier") or ()
        if line.startswith("License ::")
    )
    licence = words[0][:80] if words else next(classified, "")
    return Licence(facts["Name"], package.version, licence, text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:_MOST_CHARACTERS]
    except OSError:
        return ""
