"""The header of a GGUF file: facts by name, then the tensors with their types and places.

Version 2 and 3 of the format, little-endian (ggml's `docs/gguf.md`). Lists among the facts, such as
a tokenizer's words, are passed over. Every count and length is held against the limits and against
the file before it is used.
"""

import struct
from collections.abc import Mapping
from typing import BinaryIO

import msgspec

from backends.base import DType
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.faults import quoted
from engine.checkpoints.header import MAX_METADATA_CHARS, MAX_METADATA_ENTRIES
from engine.checkpoints.limits import MAX_DIMENSION, MAX_NAME_CHARS, MAX_RANK, MAX_TENSORS

MAGIC = b"GGUF"
# A language model's vocabulary with its merges takes some 10 MB and 300,000 texts.
MAX_HEADER_BYTES = 32 << 20
MAX_LISTED_TEXTS = 600_000
_VERSIONS = (2, 3)
_FIRST_READ = 1 << 20
_MAX_ALIGNMENT = 1 << 16
_DEFAULT_ALIGNMENT = 32
_ALIGNMENT, _ARCHITECTURE = "general.alignment", "general.architecture"
# The shape of a tensor that was stored in another one (city96's ComfyUI-GGUF, `tools/convert.py`).
_SHAPE = "comfy.gguf.orig_shape."
_TEXT, _LIST = 8, 9
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_READERS = {kind: struct.Struct(form) for kind, form in _NUMBERS.items()}
_WORD, _LONG = _READERS[4], _READERS[10]
# The numbers of ggml's types (`ggml.h`) that are read, and the names of those that are not.
TYPES = {
    0: DType.F32, 1: DType.F16, 2: DType.Q4_0, 3: DType.Q4_1, 6: DType.Q5_0, 7: DType.Q5_1,
    8: DType.Q8_0, 10: DType.Q2_K, 11: DType.Q3_K, 12: DType.Q4_K, 13: DType.Q5_K, 14: DType.Q6_K,
    24: DType.I8, 25: DType.I16, 26: DType.I32, 27: DType.I64, 28: DType.F64, 30: DType.BF16,
}  # fmt: skip
_UNREAD = {
    4: "Q4_2", 5: "Q4_3", 9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS",
    19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 29: "IQ1_M",
    34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4",
}  # fmt: skip


class Damaged(Exception):  # noqa: N818 (of the file, not of ours)
    """The header contradicts itself or the limits; `what` is the rest of a sentence about it."""

    def __init__(self, what: Sentence) -> None:
        super().__init__(what)
        self.what = what


class Ended(Exception):  # noqa: N818 (of the file, not of ours)
    """The file ends within its header."""


class UnknownType(Exception):  # noqa: N818 (a fact of the file)
    """A tensor `name` is stored in a type that is not read, named `kind`."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(name, kind)
        self.name, self.kind = name, kind


class ListedTensor(msgspec.Struct, frozen=True):
    """A tensor of the header: its type, its shape in rows first, its offset from the data."""

    dtype: DType
    shape: tuple[int, ...]
    offset: int


class GgufHeader(msgspec.Struct):
    """The facts and tensors of a file; `end` is the length of the header in bytes."""

    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    shapes: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict[str, tuple[int, ...]])
    tensors: dict[str, ListedTensor] = msgspec.field(default_factory=dict[str, ListedTensor])
    end: int = 0
    raw: bytes = b""

    @property
    def architecture(self) -> str:
        """The architecture that the file states; empty if it states none."""
        return self.facts.get(_ARCHITECTURE, "")

    @property
    def alignment(self) -> int:
        """The number whose multiples tensors begin at, in bytes from the data's beginning.

        Raises Damaged for one that is no power of two, or too large.
        """
        stated = self.facts.get(_ALIGNMENT)
        if stated is None:
            return _DEFAULT_ALIGNMENT
        found = int(stated) if stated.isdecimal() else 0
        if not 1 <= found <= _MAX_ALIGNMENT or found & (found - 1):
            raise Damaged(sentence("its tensors are aligned to {stated} bytes", stated=stated))
        return found


def read_header(file: BinaryIO) -> GgufHeader:
    """Read the header of a file open at its beginning.

    Raises Damaged, Ended, UnknownType and OSError.
    """
    bytes_ = _Bytes(file)
    bytes_.take(len(MAGIC))
    version = bytes_.number(_WORD)
    if version not in _VERSIONS:
        if int.from_bytes(version.to_bytes(4, "little"), "big") in _VERSIONS:
            raise Damaged(sentence("its numbers are big-endian"))
        raise Damaged(sentence("it is of version {version} of GGUF", version=version))
    tensors, facts = bytes_.number(_LONG), bytes_.number(_LONG)
    for what, count, most in (
        (sentence("tensors"), tensors, MAX_TENSORS),
        (sentence("facts"), facts, MAX_METADATA_ENTRIES),
    ):
        if count > most:
            limit = sentence(
                "it lists {count} {what}, over the limit of {most}",
                count=count,
                what=what,
                most=most,
            )
            raise Damaged(limit)
    header = GgufHeader()
    for _ in range(facts):
        _read_fact(bytes_, header)
    for _ in range(tensors):
        _read_tensor(bytes_, header)
    header.end, header.raw = bytes_.place, bytes_.before()
    return header


class _Bytes:
    """The beginning of a file, read further as the header goes on, up to `MAX_HEADER_BYTES`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._read, self.place = file, bytearray(), 0
        self._texts = 0

    def take(self, count: int) -> memoryview:
        """Return the next bytes. Raises Damaged beyond the limit, and Ended."""
        start, stop = self.place, self.place + count
        if stop > MAX_HEADER_BYTES:
            raise Damaged(sentence("its header is longer than any model's"))
        if stop > len(self._read):
            wanted = max(stop, min(max(_FIRST_READ, 2 * len(self._read)), MAX_HEADER_BYTES))
            self._read = self._read + self._file.read(wanted - len(self._read))
            if stop > len(self._read):
                raise Ended
        self.place = stop
        return memoryview(self._read)[start:stop]

    def number(self, reader: struct.Struct) -> int:
        """Return the next number, an integer for integral readers."""
        return reader.unpack(self.take(reader.size))[0]

    def text(self) -> bytes:
        """Return the next text, which follows its length."""
        return bytes(self.take(self.number(_LONG)))

    def skip_texts(self, count: int) -> None:
        """Pass over a list of texts."""
        self._texts += count
        if self._texts > MAX_LISTED_TEXTS:
            raise Damaged(sentence("it lists more texts than any model"))
        length_of, size, place = _LONG.unpack_from, _LONG.size, self.place
        for _ in range(count):
            if place + size > len(self._read):
                self.place = place
                self.take(size)
            place += size + length_of(self._read, place)[0]
        self.place = place
        self.take(0)

    def before(self) -> bytes:
        """Return all bytes that were taken."""
        return bytes(self._read[: self.place])


def _read_fact(bytes_: _Bytes, header: GgufHeader) -> None:
    name, kind = _name(bytes_, sentence("a fact")), bytes_.number(_WORD)
    if name in header.facts:
        raise Damaged(sentence("it lists {name} twice", name=quoted(name)))
    header.facts[name] = ""
    if kind == _TEXT:
        header.facts[name] = bytes_.text().decode("utf-8", "replace")[:MAX_METADATA_CHARS]
    elif kind in _READERS:
        header.facts[name] = str(bytes_.number(_READERS[kind]))
    elif kind == _LIST:
        _read_list(bytes_, header, name)
    else:
        raise Damaged(
            sentence("{name} is of the unknown kind {kind}", name=quoted(name), kind=kind)
        )


def _read_list(bytes_: _Bytes, header: GgufHeader, name: str) -> None:
    kind, count = bytes_.number(_WORD), bytes_.number(_LONG)
    if kind == _TEXT:
        bytes_.skip_texts(count)
        return
    reader = _READERS.get(kind)
    if reader is None:
        raise Damaged(sentence("{name} lists what cannot be listed", name=quoted(name)))
    raw = bytes_.take(count * reader.size)
    if name.startswith(_SHAPE) and count <= MAX_RANK:
        sizes = [number[0] for number in reader.iter_unpack(raw)]
        if not all(isinstance(size, int) and 0 < size < MAX_DIMENSION for size in sizes):
            raise Damaged(sentence("{name} is no shape", name=quoted(name)))
        header.shapes[name.removeprefix(_SHAPE)] = tuple(sizes)


def _read_tensor(bytes_: _Bytes, header: GgufHeader) -> None:
    name, rank = _name(bytes_, sentence("a tensor")), bytes_.number(_WORD)
    if name in header.tensors:
        raise Damaged(sentence("it lists {name} twice", name=quoted(name)))
    if not 1 <= rank <= MAX_RANK:
        raise Damaged(sentence("tensor {name} has {rank} dimensions", name=quoted(name), rank=rank))
    # Files have the innermost dimension first.
    shape = tuple(bytes_.number(_LONG) for _ in range(rank))[::-1]
    if not all(0 < size < MAX_DIMENSION for size in shape):
        listed = ", ".join(map(str, shape))
        raise Damaged(
            sentence("tensor {name} has the shape [{shape}]", name=quoted(name), shape=listed)
        )
    kind, offset = bytes_.number(_WORD), bytes_.number(_LONG)
    if kind not in TYPES:
        raise UnknownType(name, _UNREAD.get(kind, str(kind)))
    header.tensors[name] = ListedTensor(TYPES[kind], shape, offset)


def _name(bytes_: _Bytes, what: Sentence) -> str:
    raw = bytes_.text()
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        name = ""
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        shown = quoted(raw[:80].decode("utf-8", "replace"))
        raise Damaged(
            sentence(
                "the name of {what} is too long or not plain text: {name}", what=what, name=shown
            )
        )
    return name


def split_parts(facts: Mapping[str, str]) -> int:
    """Return the number of files that the weights are split over, by a file's facts."""
    stated = facts.get("split.count", "")
    return int(stated) if stated.isdecimal() else 1
