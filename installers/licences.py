"""The licences of everything in an installer, and the folder of them that goes with it.

A wheel states its licence and brings the text. `licences.toml` has what some do not say, and the
parts that are no wheels; texts that are brought by none are in `licence_texts/`.
"""

import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

import msgspec

from installers import wheels
from installers.errors import BuildError
from installers.inputs import File, Inputs, Target, fetch

_LICENCES = Path(__file__).with_name("licences.toml")
_TEXTS = Path(__file__).with_name("licence_texts")
FOLDER = "licences"
OVERVIEW = "THIRD-PARTY.txt"
_IS_TEXT = re.compile(r"licen[cs]e|notice|copying", re.IGNORECASE)
_HEAD = """\
Safelight is under the Apache License 2.0; its text is LICENSE, in the folder above this one.

It comes with the work of others, each under its own licence. "site/..." is in the folder above.
Qt and PySide are used under the LGPL 3.0: their libraries are files of their own in site/PySide6
and site/shiboken6, which you may replace by builds of your own of the same versions, and whose
sources are at the addresses below.
"""


class LicenceError(BuildError):
    """A part whose licence nothing states, or whose text is missing."""


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reviewed entry: what a part does not say itself."""

    name: str
    # An SPDX expression; empty if the wheel's own is one.
    licence: str = ""
    # Names in `licence_texts/`, without their ending.
    texts: tuple[str, ...] = ()
    # Texts that the part itself brings, relative to the tree.
    in_tree: tuple[str, ...] = ()
    # Where its sources are, with {version}; for licences that ask for it.
    source: str = ""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    # Pinned files that the build uses and no installer contains.
    tools: tuple[str, ...]
    parts: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Something in an installer that others made."""

    file: File
    # An SPDX expression.
    licence: str
    # Texts in the tree, relative to its root.
    own_texts: tuple[str, ...]
    # Texts that come from `licence_texts/`.
    added_texts: tuple[str, ...]
    source: str


def parts(inputs: Inputs, target: Target) -> list[Part]:
    """Return all parts of a system's installers, by name.

    Raises LicenceError if the licence or its text is missing for one.
    """
    document = msgspec.toml.decode(_LICENCES.read_bytes(), type=_Document)
    reviewed = {entry.name: entry for entry in document.parts}
    shipped = [
        *inputs.wheels_for(target),
        *(
            file
            for file in inputs.files
            if target in file.targets and file.name not in document.tools
        ),
    ]
    found = (_part(file, reviewed.get(file.name, _Entry(file.name))) for file in shipped)
    return sorted(found, key=lambda part: part.file.name)


def write_licences(root: Path, shipped: Sequence[Part]) -> None:
    """Write the folder of licences into a tree; raises LicenceError if a text is not there."""
    folder = root / FOLDER
    folder.mkdir()
    sections = [_HEAD]
    for part in shipped:
        missing = [text for text in part.own_texts if not (root / text).is_file()]
        if missing:
            raise LicenceError(f"{part.file.name}'s licence {missing[0]} is not in the tree.")
        for name in part.added_texts:
            shutil.copyfile(_TEXTS / f"{name}.txt", folder / f"{name}.txt")
        sections.append(_section(part))
    (folder / OVERVIEW).write_text("\n".join(sections), encoding="utf-8")


def _section(part: Part) -> str:
    texts = [*(f"{name}.txt" for name in part.added_texts), *part.own_texts]
    lines = [f"{part.file.name} {part.file.version}: {part.licence}"]
    lines += [f"  {text}" for text in texts]
    if part.source:
        lines.append(f"  Sources: {part.source}")
    return "\n".join(lines) + "\n"


def _part(file: File, entry: _Entry) -> Part:
    is_wheel = file.file_name.endswith(".whl")
    stated, texts = _read_wheel(file) if is_wheel else ("", ())
    licence = entry.licence or stated
    own = (*texts, *entry.in_tree)
    if not licence or not (own or entry.texts):
        raise LicenceError(
            f"{file.name} {file.version} lacks {'its text' if licence else 'a licence'}: "
            "review installers/licences.toml."
        )
    source = entry.source.format(version=file.version)
    return Part(file, licence, own, entry.texts, source)


def _read_wheel(file: File) -> tuple[str, tuple[str, ...]]:
    """Return a wheel's SPDX expression, if it has one, and the places of its texts in a tree."""
    with zipfile.ZipFile(fetch(file)) as wheel:
        names = {member.filename: place for member, place in wheels.members(wheel)}
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(wheel.read(metadata).decode())
    return _expression(headers), tuple(sorted(_texts(names)))


def _expression(headers: Message) -> str:
    return str(headers.get("License-Expression", ""))


def _texts(names: Mapping[str, PurePosixPath]) -> Iterator[str]:
    """Yield the texts in a wheel's information, and those in the top folder of a package."""
    for place in names.values():
        is_near = ".dist-info" in place.parts[0] or len(place.parts) == 2
        if is_near and _IS_TEXT.search(place.name) and place.suffix not in {".py", ".pyi"}:
            yield f"site/{place}"
