"""Words looked for in published wheels."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

_BINARIES = (".dll", ".dylib", ".h", ".hpp", ".py", ".pyd")


def download(requirement: str, platforms: Iterable[str], folder: Path) -> Path:
    """The wheel of a pinned requirement for a platform that need not be this one.

    Raises subprocess.CalledProcessError with pip's words where no index has it or answers.
    """
    name, _, version = requirement.partition("==")
    start = f"{name.replace('-', '_')}-{version}-"
    chosen = [word for platform in platforms for word in ("--platform", platform)]
    where = ("--dest", str(folder), "--no-deps", "--only-binary=:all:", "--python-version=3.11")
    command = [sys.executable, "-m", "pip", "download", "--quiet", *where, *chosen, requirement]
    before = set(folder.glob("*.whl"))
    subprocess.run(command, check=True, capture_output=True, text=True)
    files = [f for f in folder.glob("*.whl") if f.name.startswith(start) or f not in before]
    return max(files, key=lambda file: _fits(file.name, platforms))


def _fits(name: str, platforms: Iterable[str]) -> bool:
    return any(platform in name for platform in platforms)


def digest(wheel: Path) -> str:
    """A wheel's SHA-256, as indexes publish it."""
    return sha256(wheel.read_bytes()).hexdigest()


def found_in(wheel: Path, words: Iterable[str]) -> dict[str, str]:
    """For each word that is there, the first file of the wheel that has it, whole."""
    left, found = set(words), dict[str, str]()
    for member, content in _members(wheel):
        for word in sorted(left):
            if _has(content, word):
                found[word] = member
                left.discard(word)
        if not left:
            break
    return found


def _members(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(_BINARIES) or ".so" in Path(name).name:
                yield name, archive.read(name)


def _has(content: bytes, word: str) -> bool:
    """Return True if a word stands in a file by itself, with one byte or two a letter."""
    letter = rb"[A-Za-z0-9_]"
    narrow = rb"(?<!" + letter + rb")" + re.escape(word.encode()) + rb"(?!" + letter + rb")"
    return re.search(narrow, content) is not None or word.encode("utf-16-le") in content
