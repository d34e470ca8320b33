"""Wheels, unpacked into a folder as an installer would."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

# Of a wheel's folder of data, the parts that are packages.
_PACKAGES = frozenset({"purelib", "platlib"})
# Of its information: names, versions and needs, and the licences that must go with it.
_METADATA = frozenset({"METADATA"})


class WheelError(Exception):
    """A wheel whose files would land outside the folder, or upon each other."""


def unpack(wheels: Iterable[Path], folder: Path) -> None:
    """Unpack wheels into one folder; raises WheelError if two have a file in common."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for member, place in members(archive):
                target = folder / place
                if target.exists():
                    raise WheelError(f"{place} of {wheel.name} is in another wheel too.")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))


def members(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Yield each file of a wheel that is kept, with its path in the folder of packages.

    Raises WheelError for a path that leads out of it.
    """
    for member in archive.infolist():
        place = None if member.is_dir() else _place(PurePosixPath(member.filename))
        if place is None:
            continue
        if place.is_absolute() or ".." in place.parts or "\\" in member.filename:
            raise WheelError(f"{member.filename!r} leads out of the folder.")
        yield member, place


def _place(path: PurePosixPath) -> PurePosixPath | None:
    """Return where a wheel's file goes; None for commands, headers and records."""
    top = path.parts[0]
    if top.endswith(".data"):
        return PurePosixPath(*path.parts[2:]) if path.parts[1] in _PACKAGES else None
    if top.endswith(".dist-info"):
        inside = path.parts[1:]
        kept = inside[0] in _METADATA or any("licen" in part.lower() for part in inside)
        return path if kept or inside[0].upper().startswith(("NOTICE", "COPYING")) else None
    return path
