"""ELF files, as far as a build reads and shrinks them."""

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

MAGIC = b"\x7fELF"
# Of the file's header, for 64 bits: where the program headers start, their size and number, and
# what tells of section headers, which no loader reads.
_HEADERS_AT, _SECTIONS_AT, _SIZES_AT, _SECTION_SIZES_AT = 0x20, 0x28, 0x36, 0x3A
_PROGRAM = struct.Struct("<IIQQQQQQ")
_PAGE = 0x1000
_LOAD = 1


@dataclass(frozen=True)
class Segment:
    """A program header."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    alignment: int


def is_elf(path: Path) -> bool:
    """Return True for an ELF file."""
    with path.open("rb") as file:
        return file.read(4) == MAGIC


def segments(data: bytes) -> list[Segment]:
    """Return the program headers of a file for 64 bits."""
    start = struct.unpack_from("<Q", data, _HEADERS_AT)[0]
    size, count = struct.unpack_from("<HH", data, _SIZES_AT)
    places = range(start, start + size * count, size)
    return [Segment(*_PROGRAM.unpack_from(data, place)) for place in places]


def length(data: bytes) -> int:
    """Return how many bytes the headers of a file tell of, its list of sections included."""
    start = struct.unpack_from("<Q", data, _SECTIONS_AT)[0]
    size, count = struct.unpack_from("<HH", data, _SECTION_SIZES_AT)
    return start + size * count


def close_holes(data: bytes) -> bytes:
    """Return a file whose segments follow each other in the file, page by page.

    Some linkers start each at 2 MiB. Addresses stay, so that nothing within has to change; section
    headers, which are for debuggers, go.
    """
    found = segments(data)
    moved: dict[int, int] = {}
    content = bytearray()
    for segment in sorted(
        (segment for segment in found if segment.kind == _LOAD), key=lambda segment: segment.offset
    ):
        inside = segment.offset % _PAGE
        content.extend(bytes(-len(content) % _PAGE + inside))
        moved[segment.offset] = len(content)
        content.extend(data[segment.offset : segment.offset + segment.file_size])
    loads = [segment for segment in found if segment.kind == _LOAD]
    changed = [_moved(segment, loads, moved) for segment in found]
    return _with_headers(content, data, changed)


def shorten_first(data: bytes, length: int) -> bytes:
    """Return a file whose first segment has `length` bytes; the others keep their addresses."""
    found = segments(data)
    first = next(segment for segment in found if segment.kind == _LOAD)
    shorter = replace(first, file_size=length, memory_size=length)
    cut = _with_headers(
        bytearray(data), data, [shorter if segment == first else segment for segment in found]
    )
    return close_holes(cut)


def _moved(segment: Segment, loads: list[Segment], moved: dict[int, int]) -> Segment:
    """Return a segment at the new place of the one that is loaded with it."""
    for load in loads:
        if load.offset <= segment.offset < load.offset + max(load.file_size, 1):
            offset = moved[load.offset] + segment.offset - load.offset
            alignment = min(segment.alignment, _PAGE)
            return replace(segment, offset=offset, alignment=alignment)
    return segment


def _with_headers(content: bytearray, data: bytes, found: list[Segment]) -> bytes:
    start = struct.unpack_from("<Q", data, _HEADERS_AT)[0]
    for index, segment in enumerate(found):
        values = (
            segment.kind, segment.flags, segment.offset, segment.address, segment.physical,
            segment.file_size, segment.memory_size, segment.alignment,
        )  # fmt: skip
        _PROGRAM.pack_into(content, start + index * _PROGRAM.size, *values)
    struct.pack_into("<Q", content, _SECTIONS_AT, 0)
    struct.pack_into("<HHH", content, _SIZES_AT + 4, 0, 0, 0)
    return bytes(content)


def needed(path: Path) -> list[str]:
    """Return the names of the libraries that a file is linked with."""
    return [line.split("[")[1].split("]")[0] for line in _readelf("-d", path) if "(NEEDED)" in line]


def versions(path: Path) -> Iterator[str]:
    """Yield the versions of symbols that a file asks of libraries, such as GLIBC_2.34."""
    wanted = False
    for line in _readelf("-V", path):
        if line.startswith("Version"):
            wanted = line.startswith("Version needs section")
        elif wanted and "Name: " in line:
            yield line.split("Name: ")[1].split()[0]


def _readelf(option: str, path: Path) -> list[str]:
    command = ["readelf", option, "--wide", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
