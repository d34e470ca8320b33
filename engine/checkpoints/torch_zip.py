"""The archive around a PyTorch file's pickle: a zip file with uncompressed members.

`torch.save` has written nothing else since 2020 (PyTorchStreamWriter in caffe2/serialize). Readers
of zip files disagree where a file contradicts itself, which can hide a pickle from a scanner, so
facts stated twice must agree, and anything that PyTorch would not write is refused.

Standard library only: it runs in a child process that should start at once.
"""

import io
import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

# Some 30,000 members, ten times those of an SDXL checkpoint; more take a second to read.
MAX_DIRECTORY_BYTES = 2 << 20
MAX_PICKLE_BYTES = 64 << 20
_MEMBER = re.compile(
    r"[^/]+/(data\.pkl|version|byteorder|data/\d+|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id)"
)
_CHECKPOINTS = (".safetensors", ".ckpt", ".pt", ".pth", ".bin")
_END = b"PK\x05\x06"
# The record at the end of the archive, and the longest comment after it.
_END_BYTES, _COMMENT_BYTES = 22, 0xFFFF
# An archive of over 4 GiB (zip64) has another record before it, and one that locates that record.
_LONG_END, _LOCATOR = b"PK\x06\x06", b"PK\x06\x07"
_LONG_END_BYTES, _LOCATOR_BYTES = 56, 20
_PIECE_BYTES = 1 << 20
_LOCAL = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1


class ArchiveRefused(Exception):  # noqa: N818 (a decision, not a fault)
    """The archive is not one that PyTorch writes; `str()` is the reason."""


class ArchivePacked(Exception):  # noqa: N818 (of the file, not of ours)
    """The archive is an ordinary one with a checkpoint in it, whose name is `str()`."""


# Offset and length of a member in the file, in bytes.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Archive:
    """The place of the pickle in the file, and the place of each storage by its key."""

    pickle: Span
    storages: Mapping[str, Span]


class Member(io.RawIOBase):
    """A part of a file as a file object, which can be read in order or skipped."""

    def __init__(self, file: BinaryIO, span: Span) -> None:
        super().__init__()
        self._file = file
        self._at, self._end = span[0], sum(span)

    def readable(self) -> bool:
        """Return True: a member can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: bytes can be skipped."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as possible; return the number of bytes."""
        self._file.seek(self._at)
        read = self._file.read(max(0, min(len(buffer), self._end - self._at)))
        buffer[: len(read)] = read
        self._at += len(read)
        return len(read)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Skip bytes; `whence` must be 1, the current position."""
        if whence != 1:
            raise io.UnsupportedOperation
        self._at += offset
        return self._at

    def tell(self) -> int:
        """Return the position in the whole file."""
        return self._at


def read_archive(file: BinaryIO) -> Archive:
    """Check the archive and locate its members. Raises ArchiveRefused."""
    _require_small_directory(file)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            _require_unpacked(names)
            if len(set(names)) != len(names):
                raise ArchiveRefused("a name is in the archive twice")
            spans = {member.filename: _span(file, member) for member in members}
            if min((member.header_offset for member in members), default=0):
                raise ArchiveRefused("something precedes it")
            _require_apart(spans)
            return _contents(archive, spans)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, EOFError) as error:
        raise ArchiveRefused(str(error)) from error


def _require_small_directory(file: BinaryIO) -> None:
    """Refuse a long list of members: `zipfile` reads all of it, however long it claims to be."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_BYTES - _COMMENT_BYTES))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_BYTES:
        raise ArchiveRefused("it has no end: the file is incomplete")
    (length,) = struct.unpack_from("<I", tail, place + 12)
    locator = tail[max(0, place - _LOCATOR_BYTES) : place]
    # With a locator `zipfile` believes the longer record, whatever the shorter one says.
    if locator.startswith(_LOCATOR):
        length = _long_directory(tail, place - _LOCATOR_BYTES)
    if length > MAX_DIRECTORY_BYTES:
        raise ArchiveRefused("its list of members is longer than any model's")


def _long_directory(tail: bytes, locator: int) -> int:
    """Return the length of the list of members, from the record before its locator."""
    record = locator - _LONG_END_BYTES
    if record < 0 or not tail.startswith(_LONG_END, record):
        raise ArchiveRefused("its end contradicts itself")
    return int(struct.unpack_from("<Q", tail, record + 40)[0])


def _require_unpacked(names: Sequence[str]) -> None:
    for name in names:
        if name.lower().endswith(_CHECKPOINTS):
            raise ArchivePacked(name.rsplit("/", 1)[-1])


def _span(file: BinaryIO, member: zipfile.ZipInfo) -> Span:
    """Return the place of a member's bytes; refuse a member whose header and list disagree."""
    name = member.filename
    if not _MEMBER.fullmatch(name) or member.flag_bits & _ENCRYPTED:
        raise ArchiveRefused(f"it holds {name[:80]!a}, which no model does")
    if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
        raise ArchiveRefused(f"{name!a} is compressed")
    file.seek(member.header_offset)
    raw = file.read(_LOCAL.size)
    if len(raw) < _LOCAL.size:
        raise ArchiveRefused("it is incomplete")
    signature, _, flags, method, *_, named, extra = _LOCAL.unpack(raw)
    listed = name.encode()
    agrees = signature == b"PK\x03\x04" and method == 0 and not flags & _ENCRYPTED
    if not agrees or named != len(listed) or file.read(named) != listed:
        raise ArchiveRefused(f"what it says of {name!a} contradicts itself")
    return member.header_offset + _LOCAL.size + named + extra, member.file_size


def _require_apart(spans: Mapping[str, Span]) -> None:
    cursor = 0
    for begin, length in sorted(spans.values()):
        if begin < cursor:
            raise ArchiveRefused("its members overlap")
        cursor = begin + length


def _contents(archive: zipfile.ZipFile, spans: Mapping[str, Span]) -> Archive:
    folders = {name.split("/", 1)[0] for name in spans}
    if len(folders) != 1:
        raise ArchiveRefused("it holds more than one model, or none")
    root = folders.pop()
    order, pickle = f"{root}/byteorder", f"{root}/data.pkl"
    if order in spans and (spans[order][1] > 16 or archive.read(order).strip() != b"little"):
        raise ArchiveRefused("its numbers are not little-endian")
    if pickle not in spans:
        raise ArchiveRefused("it holds no data.pkl")
    if spans[pickle][1] > MAX_PICKLE_BYTES:
        raise ArchiveRefused("its data.pkl is longer than any model's")
    begins = f"{root}/data/"
    storages = {
        name.removeprefix(begins): span for name, span in spans.items() if name.startswith(begins)
    }
    _require_whole(archive, pickle)
    return Archive(spans[pickle], storages)


def _require_whole(archive: zipfile.ZipFile, name: str) -> None:
    """Read a member to its end, which checks its checksum. Raises BadZipFile."""
    with archive.open(name) as member:
        while member.read(_PIECE_BYTES):
            pass
