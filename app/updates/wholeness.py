"""The list of a version's files with their hashes, and what is missing or changed."""

import hashlib
from pathlib import Path

import msgspec

from app.versions.trees import LIST, TREE
from engine.untrusted_json import JsonError, read_json

_MOST_BYTES = 64 << 20


class InstalledFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The SHA-256 of each file and the target of each link, by path; and the archive's SHA-256."""

    files: dict[str, str]
    links: dict[str, str]
    sha256: str


_DECODER = msgspec.json.Decoder(InstalledFiles)


def damage_of(folder: Path) -> list[str]:
    """Return the paths of files in the tree of a version's folder that are missing or changed.

    Reads the whole tree: about a second.
    """
    try:
        listed = read_json(folder / LIST, _DECODER, _MOST_BYTES)
    except (OSError, JsonError):
        return [LIST]
    tree = folder / TREE
    files = (name for name, digest in listed.files.items() if _digest(tree / name) != digest)
    links = (name for name, target in listed.links.items() if _target(tree / name) != target)
    return [*files, *links]


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
