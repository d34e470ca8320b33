"""ICU's data, cut to what Qt asks for.

QtCore is linked with ICU, whose data has 32 MB: texts, calendars, currencies and character sets of
all languages. Qt has its own tables for most of that. What stays sorts by the rules of all
languages together, and changes case.
"""

import struct
from fnmatch import fnmatchcase

from installers.linux import elf

_MAGIC = b"\xda\x27"
_FORMAT = b"CmnD"
_KEPT = (
    "icuver.res", "icustd.res", "root.res", "res_index.res", "pool.res", "keyTypeData.res",
    "likelySubtags.res", "numberingSystems.res", "supplementalData.res", "timezoneTypes.res",
    "metaZones.res", "zoneinfo64.res", "coll/root.res", "coll/res_index.res", "coll/ucadata.icu",
    "coll/pool.res", "*.nrm", "ulayout.icu", "uemoji.icu",
)  # fmt: skip


class IcuError(Exception):
    """A library of data that has another form than the one this module knows."""


def smaller(library: bytes) -> bytes:
    """Return the library with only the data that is kept; raises IcuError if it has none."""
    start = _start(library)
    header = struct.unpack_from("<H", library, start)[0]
    contents = start + header
    kept = [(name, data) for name, data in _items(library, contents) if _is_kept(name)]
    if not kept:
        raise IcuError("Nothing of ICU's data has a name that is kept.")
    package = library[start:contents] + _packed(kept)
    shorter = library[:start] + package + library[start + len(package) :]
    return elf.shorten_first(shorter, start + len(package))


def _start(library: bytes) -> int:
    """Return where the package of data starts: at its header's size, before the magic number."""
    place = library.find(_MAGIC)
    while place >= 0:
        if library[place + 10 : place + 14] == _FORMAT:
            return place - 2
        place = library.find(_MAGIC, place + 1)
    raise IcuError("The library holds no package of ICU's data.")


def _items(library: bytes, contents: int) -> list[tuple[bytes, bytes]]:
    """Return names and bytes of all items; offsets in the table count from the table itself."""
    count = struct.unpack_from("<I", library, contents)[0]
    pairs = [struct.unpack_from("<II", library, contents + 4 + 8 * index) for index in range(count)]
    end = elf.segments(library)[0].file_size - contents
    ends = [*(data for _, data in pairs[1:]), end]
    items: list[tuple[bytes, bytes]] = []
    for (name, data), stop in zip(pairs, ends, strict=True):
        name_end = library.index(b"\0", contents + name)
        items.append(
            (library[contents + name : name_end], library[contents + data : contents + stop])
        )
    return items


def _is_kept(name: bytes) -> bool:
    """Return True for a name such as icudt73l/coll/root.res that is kept."""
    short = name.decode().split("/", 1)[1]
    return any(fnmatchcase(short, pattern) for pattern in _KEPT)


def _packed(items: list[tuple[bytes, bytes]]) -> bytes:
    """Return a table and its items, each at a multiple of 16 bytes."""
    names_at = 4 + 8 * len(items)
    names = b"".join(name + b"\0" for name, _ in items)
    data = bytearray(names_at + len(names))
    table = bytearray(struct.pack("<I", len(items)))
    name_at = names_at
    for name, content in items:
        data.extend(bytes(-len(data) % 16))
        table.extend(struct.pack("<II", name_at, len(data)))
        name_at += len(name) + 1
        data.extend(content)
    data[: len(table)] = table
    data[names_at : names_at + len(names)] = names
    return bytes(data)
