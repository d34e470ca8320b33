"""Yields the instructions of a pickle, within bounds; nothing is run.

`pickletools` knows the format of each argument, but its own reader keeps texts of any length.
Standard library only: it runs in a child process that should start at once.
"""

import pickletools
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

# The longest text that is kept. Names have at most 512 characters; longer texts are notes and
# arrays.
MAX_TEXT_BYTES = 4096
# The most bytes of all texts kept: the names of 100,000 entries take 10 MB. A text of a few
# characters may take nine times its bytes in memory.
MAX_KEPT_BYTES = 16 << 20
# Longer integers are neither sizes nor counters, and many of them can share one hash.
_MAX_INTEGER = 1 << 63


class PickleRefused(Exception):  # noqa: N818 (a decision, not a fault)
    """The pickle asks for something that no checkpoint needs; `str()` names it."""


class PickleDamaged(Exception):  # noqa: N818 (of the file, not of ours)
    """The pickle is inconsistent."""


class Unread:
    """A text or integer that is too long for a name or a size; its value is not kept."""

    __slots__ = ()


def instructions(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Yield the name and argument of each instruction, to the end of the file.

    An argument is None, a text, bytes, a number, or `Unread`. Raises PickleRefused, PickleDamaged
    and ValueError.
    """
    source = _Source(file)
    while code := file.read(1):
        known = _INSTRUCTIONS.get(code)
        if known is None:
            raise PickleDamaged("it has an instruction that there is not")
        name, argument = known
        yield name, argument and argument(source)


class _Source:
    """A file that returns no argument longer than `MAX_TEXT_BYTES`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = MAX_KEPT_BYTES

    def read(self, count: int) -> bytes:
        """Read a number, which is short."""
        return self._file.read(count)

    def readline(self) -> bytes:
        """Read a text of protocol 0, which PyTorch never wrote, or the name of a class."""
        line = self._file.readline(MAX_TEXT_BYTES + 1)
        if len(line) > MAX_TEXT_BYTES:
            raise PickleRefused(f"a line of more than {MAX_TEXT_BYTES} bytes")
        self._keep(len(line))
        return line

    def counted(self, width: int) -> bytes | None:
        """Read bytes after their count, which takes `width` bytes; None if there are too many."""
        length = int.from_bytes(self._file.read(width), "little")
        if length > MAX_TEXT_BYTES:
            if length >= _MAX_INTEGER:
                raise PickleDamaged("a text is longer than the file")
            self._file.seek(length, 1)
            return None
        self._keep(length)
        content = self._file.read(length)
        if len(content) < length:
            raise PickleDamaged("a text is longer than the file")
        return content

    def _keep(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise PickleRefused(f"more than {MAX_KEPT_BYTES >> 20} MB of names")


_Argument = Callable[[_Source], Any]
_WIDTHS = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}


def _unicode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _latin(raw: bytes) -> str:
    return raw.decode("latin-1")


def _integer(raw: bytes) -> object:
    return _short(int.from_bytes(raw, "little", signed=True))


def _short(value: int) -> object:
    return value if -_MAX_INTEGER <= value < _MAX_INTEGER else Unread()


def _decoder(name: str) -> Callable[[bytes], object]:
    if "UNICODE" in name:
        return _unicode
    if "LONG" in name:
        return _integer
    return _latin if "STRING" in name else bytes


def _pair(source: _Source) -> str:
    """Read a module and a name, one per line."""
    return f"{_line(source)} {_line(source)}"


def _line(source: _Source) -> str:
    return source.readline().removesuffix(b"\n").decode()


def _argument_of(opcode: pickletools.OpcodeInfo) -> _Argument | None:
    if opcode.arg is None:
        return None
    if opcode.name in ("GLOBAL", "INST"):
        return _pair
    width = _WIDTHS.get(opcode.arg.n)
    if width is None:
        read = cast("_Argument", opcode.arg.reader)
        return (lambda source: _short(read(source))) if opcode.name in ("INT", "LONG") else read
    decode = _decoder(opcode.name)

    def counted(source: _Source) -> object:
        raw = source.counted(width)
        return Unread() if raw is None else decode(raw)

    return counted


_INSTRUCTIONS: dict[bytes, tuple[str, _Argument | None]] = {
    opcode.code.encode("latin-1"): (opcode.name, _argument_of(opcode))
    for opcode in pickletools.opcodes
}
