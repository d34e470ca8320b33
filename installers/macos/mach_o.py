"""Mach-O files, macOS' form of executables and libraries: their needs, and slices of fat ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lief

from installers.errors import BuildError

lief.logging.disable()

_THIN_MAGIC = b"\xcf\xfa\xed\xfe"
_FAT_MAGIC = b"\xca\xfe\xba\xbe"
# Java's classes begin like fat files; their next number is a version, 45 or more.
_MOST_SLICES = 20

_TYPE = lief.MachO.LoadCommand.TYPE
_NEEDED = (_TYPE.LOAD_DYLIB, _TYPE.REEXPORT_DYLIB, _TYPE.LOAD_UPWARD_DYLIB)


class MachOError(BuildError):
    """A Mach-O file that cannot be read, or lacks the wanted architecture."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The code of one architecture in a Mach-O file."""

    architecture: str
    # The place in the file, in bytes.
    offset: int
    size: int
    # Names of libraries that must be there, as the loader is told them: "@rpath/..." among others.
    libraries: tuple[str, ...]
    # Folders that stand for "@rpath", in the order they are tried.
    rpaths: tuple[str, ...]
    # The oldest macOS that it was compiled for; (0, 0) if it does not say.
    minimum_system: tuple[int, int]
    # Apple silicon runs no code without a signature, be it one without an identity.
    signed: bool


def is_mach_o(path: Path) -> bool:
    """Return True for executables, libraries and objects of one or several architectures."""
    with path.open("rb") as file:
        head = file.read(8)
    slices = int.from_bytes(head[4:8], "big")
    return head[:4] == _THIN_MAGIC or (head[:4] == _FAT_MAGIC and 0 < slices < _MOST_SLICES)


def mach_o_files(root: Path) -> Iterator[Path]:
    """Yield the Mach-O files below a folder, sorted; links are not followed."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and is_mach_o(path):
            yield path


def slices(path: Path) -> tuple[Slice, ...]:
    """Return the architectures of a file; raises MachOError if it cannot be read."""
    parsed = lief.MachO.parse(  # pyright: ignore[reportUnknownMemberType] (a bare PathLike)
        str(path), lief.MachO.ParserConfig.quick
    )
    if parsed is None:
        raise MachOError(f"{path} is no Mach-O file that can be read.")
    return tuple(_slice(binary) for binary in parsed)


def thin(path: Path, architecture: str) -> int:
    """Leave only one architecture in a file and return the bytes that went.

    The signature of that architecture stays valid. Raises MachOError if the file has no such code.
    """
    found = {slice_.architecture: slice_ for slice_ in slices(path)}
    if architecture not in found:
        raise MachOError(f"{path} has code for {', '.join(found)}, not for {architecture}.")
    kept, before = found[architecture], path.stat().st_size
    if kept.size < before:
        with path.open("rb") as file:
            file.seek(kept.offset)
            code = file.read(kept.size)
        path.write_bytes(code)
    return before - kept.size


def _slice(binary: lief.MachO.Binary) -> Slice:
    return Slice(
        # "arm64" and "x86_64", as macOS calls them.
        binary.header.cpu_type.name.lower(),
        binary.fat_offset,
        binary.original_size,
        tuple(str(library.name) for library in binary.libraries if library.command in _NEEDED),
        tuple(str(rpath.path) for rpath in binary.rpaths),
        _minimum_system(binary),
        binary.has_code_signature,
    )


def _minimum_system(binary: lief.MachO.Binary) -> tuple[int, int]:
    if binary.build_version is not None:
        version = binary.build_version.minos
    elif binary.version_min is not None:
        version = binary.version_min.version
    else:
        return (0, 0)
    return (version[0], version[1])
