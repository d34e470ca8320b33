"""The files that a tree leaves out: a reviewed list, each entry with its reason."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from installers.inputs import Target

TRIM = Path(__file__).parent / "trim.toml"


class TrimError(Exception):
    """An entry of the list that fits no file: the wheel has changed since it was reviewed."""


class Entry(msgspec.Struct, frozen=True):
    """A group of files that are left out, or of which only some are kept."""

    # The folders, below the root of the tree, that the patterns are about.
    of: str
    reason: str
    targets: tuple[Target, ...] = tuple(Target)
    # Patterns of paths below `of`; `*` is any text, also with slashes.
    drop: tuple[str, ...] = ()
    # If there are some, every file that fits none of them is left out.
    keep: tuple[str, ...] = ()


class Distributions(msgspec.Struct, frozen=True):
    """Distributions that no tree has, though others ask for them."""

    names: tuple[str, ...]
    reason: str


class Trim(msgspec.Struct, frozen=True):
    """The reviewed list."""

    distributions: tuple[Distributions, ...]
    entries: tuple[Entry, ...]

    @property
    def left_out(self) -> frozenset[str]:
        """The names of all distributions that are left out."""
        return frozenset(name for group in self.distributions for name in group.names)


def read_trim(path: Path = TRIM) -> Trim:
    """Return the reviewed list."""
    return msgspec.toml.decode(path.read_bytes(), type=Trim)


def dropped(paths: Iterable[str], entries: Iterable[Entry], target: Target) -> set[str]:
    """Return those paths, relative to the tree and with slashes, that the list leaves out.

    Raises TrimError for a pattern that fits none of them.
    """
    paths = sorted(paths)
    gone: set[str] = set()
    for entry in entries:
        if target in entry.targets:
            gone.update(_dropped_by(entry, paths))
    return gone


def trim(root: Path, entries: Iterable[Entry], target: Target) -> int:
    """Remove what the list leaves out of a tree, and folders that get empty; return the bytes."""
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    gone = dropped(files, entries, target)
    size = sum(files[name].stat().st_size for name in gone)
    for name in gone:
        files[name].unlink()
    for folder in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return size


def leaves_out(path: str, entries: Iterable[Entry], target: Target) -> bool:
    """Return True if the list leaves out a path, relative to the tree and with slashes."""
    return any(
        target in entry.targets
        and path.startswith(_prefix(entry))
        and _drops(entry, path.removeprefix(_prefix(entry)))
        for entry in entries
    )


def _dropped_by(entry: Entry, paths: list[str]) -> Iterator[str]:
    prefix = _prefix(entry)
    inside = {path.removeprefix(prefix): path for path in paths if path.startswith(prefix)}
    for pattern in (*entry.drop, *entry.keep):
        if not any(_fits(path, (pattern,)) for path in inside):
            raise TrimError(
                f"No file below {entry.of} fits {pattern!r}: review installers/trim.toml."
            )
    for short, path in inside.items():
        if _drops(entry, short):
            yield path


def _prefix(entry: Entry) -> str:
    return entry.of.rstrip("/") + "/"


def _drops(entry: Entry, short: str) -> bool:
    return _fits(short, entry.drop) or (bool(entry.keep) and not _fits(short, entry.keep))


def _fits(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
