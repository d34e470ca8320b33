"""PyTorch files of before 2020: four pickles, then the numbers one storage after another.

The format of `torch.serialization._legacy_save`: a magic number, a version, facts of the machine,
the object with its tensors, and the keys of the storages; then for each key the number of elements
in eight bytes, and the elements. Nothing is run (`torch_pickle`).

Standard library only: it runs in a child process that should start at once.
"""

from typing import BinaryIO, cast

from engine.checkpoints.limits import MAX_TENSORS
from engine.checkpoints.torch_instructions import PickleDamaged, PickleRefused
from engine.checkpoints.torch_pickle import read_pickle
from engine.checkpoints.torch_zip import Archive, Span

# The pickle of the magic number in protocol 2, as every version of PyTorch writes it unless told
# otherwise, and in the others that `torch.save(pickle_protocol=...)` takes: 4 and 5 have frames.
_NUMBER = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_FRAME = b"\x95" + len(_NUMBER).to_bytes(8, "little")
MAGIC = b"\x80\x02" + _NUMBER
MAGICS = (MAGIC, b"\x80\x03" + _NUMBER, *(b"\x80" + n + _FRAME + _NUMBER for n in (b"\4", b"\5")))
LONGEST_MAGIC = max(map(len, MAGICS))
_VERSION = 1001
_COUNT_BYTES = 8


def magic_of(start: bytes) -> bytes | None:
    """Return the magic number that the first LONGEST_MAGIC bytes of a file begin with."""
    return next((magic for magic in MAGICS if start.startswith(magic)), None)


def read_stream(file: BinaryIO, itemsizes: dict[str, int]) -> tuple[object, Archive]:
    """Return the object in a file that is open behind its magic number, and its storages' places.

    `itemsizes` has the bytes of each element type. Raises PickleRefused and PickleDamaged.
    """
    if read_pickle(file) != _VERSION:
        raise PickleRefused("another version of PyTorch's files")
    facts = read_pickle(file)
    if (
        not isinstance(facts, dict)
        or cast("dict[str, object]", facts).get("little_endian") is not True
    ):
        raise PickleRefused("numbers that are not little-endian")
    types: dict[str, str] = {}
    root = read_pickle(file, types)
    keys = read_pickle(file)
    if not isinstance(keys, list):
        raise PickleDamaged("it does not list its storages")
    return root, Archive((0, 0), _spans(file, cast("list[object]", keys), types, itemsizes))


def _spans(
    file: BinaryIO, keys: list[object], types: dict[str, str], itemsizes: dict[str, int]
) -> dict[str, Span]:
    """Return offset and length in bytes of each storage."""
    if len(keys) > MAX_TENSORS:
        raise PickleRefused(f"more than {MAX_TENSORS} storages")
    place = file.tell()
    size = file.seek(0, 2)
    spans: dict[str, Span] = {}
    for key in keys:
        if not isinstance(key, str) or key not in types or key in spans:
            raise PickleDamaged("it lists a storage that no tensor has, or one twice")
        file.seek(place)
        count = int.from_bytes(file.read(_COUNT_BYTES), "little")
        length = count * itemsizes[types[key]]
        place += _COUNT_BYTES
        if place + length > size:
            raise PickleDamaged("its numbers are not all there: the file is incomplete")
        spans[key] = place, length
        place += length
    return spans
