"""Protocol buffers read by position: nothing is held of a file but what is asked for.

The encoding is that of protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.faults import corrupt
from engine.errors import EngineError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# Fields and packed numbers in a file; a network of 3000 nodes has some 40,000.
MOST_FIELDS = 100_000
# Bytes of constants and texts in a file; weights stay where they are and do not count.
_MOST_BYTES = 32 << 20
_CHUNK = 1 << 16
_MOST_VARINT_BYTES = 10
# Bytes of a name.
_MOST_TEXT_BYTES = 512


class Field(NamedTuple):
    """A field of a message: its number, its type on the wire, and its value or its place.

    `value` is that of a varint; the content of others lies from `start` to `end` in the file.
    """

    number: int
    kind: int
    value: int
    start: int
    end: int


class WireReader:
    """Reads messages of a file. It counts fields, and refuses a file with far too many."""

    def __init__(self, file: BinaryIO, size: int, path: Path) -> None:
        self.size, self._file, self._path = size, file, path
        self._chunk, self._chunk_at = b"", 0
        self._left, self._bytes_left = MOST_FIELDS, _MOST_BYTES

    def fault(self, what: Sentence) -> EngineError:
        """Return the error for a file that is damaged in this way."""
        return corrupt(self._path, what)

    def fields(self, start: int, end: int) -> Iterator[Field]:
        """Yield the fields of a message that lies from `start` to `end`. Raises EngineError."""
        at = start
        while at < end:
            key, at = self.varint(at, end)
            number, kind, value, begin = key >> 3, key & 7, 0, at
            self.count(1)
            if kind == VARINT:
                value, at = self.varint(at, end)
            elif kind == BYTES:
                length, begin = self.varint(at, end)
                at = begin + length
            elif kind in (FIXED64, FIXED32):
                at += 8 if kind == FIXED64 else 4
            else:
                raise self.fault(sentence("it has a field of no known type"))
            if at > end or not number:
                raise self.fault(sentence("a field ends beyond its message"))
            yield Field(number, kind, value, begin, at)

    def content(self, field: Field, most: int) -> bytes:
        """Return the bytes of a field, which may not be more than `most`. Raises EngineError."""
        if field.kind == VARINT or field.end - field.start > most:
            raise self.fault(sentence("a field is larger than any model's"))
        self._bytes_left -= field.end - field.start
        if self._bytes_left < 0:
            raise self.fault(sentence("it has more constants than any model"))
        return self._read(field.start, field.end - field.start)

    def text(self, field: Field) -> str:
        """Return the text of a field, printable and of bounded length. Raises EngineError."""
        if field.kind != BYTES:
            raise self.fault(sentence("a name is no text"))
        try:
            found = self.content(field, _MOST_TEXT_BYTES).decode()
        except UnicodeDecodeError:
            raise self.fault(sentence("a name is no text")) from None
        if not found.isprintable():
            raise self.fault(sentence("a name is no text"))
        return found

    def integers(self, field: Field) -> list[int]:
        """Return the signed 64-bit numbers of a field, packed or single. Raises EngineError."""
        if field.kind == VARINT:
            return [signed(field.value)]
        if field.kind != BYTES:
            raise self.fault(sentence("a number is of the wrong type"))
        found: list[int] = []
        at = field.start
        while at < field.end:
            value, at = self.varint(at, field.end)
            found.append(signed(value))
            if len(found) > self._left:
                break
        self.count(len(found))
        return found

    def count(self, more: int) -> None:
        """Count fields or numbers. Raises EngineError beyond the most."""
        self._left -= more
        if self._left < 0:
            raise self.fault(sentence("it has far more entries than any model"))

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """Return an unsigned number of up to 64 bits and the place after it. Raises EngineError."""
        offset = at - self._chunk_at
        if offset < 0 or offset + _MOST_VARINT_BYTES > len(self._chunk):
            self._chunk, self._chunk_at, offset = self._read(at, _CHUNK, cut=True), at, 0
        if at < end and offset < len(self._chunk) and (first := self._chunk[offset]) < 128:
            return first, at + 1
        value = shift = 0
        for byte in self._chunk[offset : offset + min(_MOST_VARINT_BYTES, max(0, end - at))]:
            value |= (byte & 127) << shift
            at += 1
            if byte < 128:
                return value & (2**64 - 1), at
            shift += 7
        raise self.fault(sentence("a number does not end"))

    def _read(self, at: int, length: int, *, cut: bool = False) -> bytes:
        self._file.seek(at)
        found = self._file.read(min(length, self.size - at) if cut else length)
        if not cut and len(found) < length:
            raise self.fault(sentence("it ends too early"))
        return found


def signed(value: int) -> int:
    """Return an unsigned 64-bit number as two's complement."""
    return value - 2**64 if value >= 2**63 else value
