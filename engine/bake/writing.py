"""Writing a baked file: the base's bytes, with the changed ones computed as they come.

Never more than one weight is in memory, beside the pieces of the copy.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode
from engine.bake.changes import Change
from engine.bake.layout import BaseFile
from engine.bake.record import HASH, UNKNOWN_HASH
from engine.checkpoints.faults import unreadable
from engine.durable import FULL, sync_file
from engine.errors import EngineError, host_memory_errors

# Gets the number of bytes that were done since the last call; may raise to stop.
Advance = Callable[[int], None]

_PIECE_BYTES = 4 << 20


def write_baked(
    part: Path,
    base: BaseFile,
    changes: Sequence[Change],
    metadata: Mapping[str, str],
    advance: Advance,
) -> None:
    """Write a base's file with its changes and other metadata to the new file `part`, and sync it.

    `changes` are in the order of their bytes. Raises EngineError and OSError.
    """
    header, data_hash = base.header(metadata), sha256()
    with part.open("xb") as out, base.path.open("rb", buffering=0) as source:
        out.write(header)
        for piece in _data(base, source, changes):
            data_hash.update(piece)
            out.write(piece)
            advance(len(piece))
        place = header.find(f'"{HASH}":"{UNKNOWN_HASH}"'.encode())
        if place >= 0:
            out.seek(place + len(f'"{HASH}":"0x'))
            out.write(data_hash.hexdigest().encode())
        out.flush()
        sync_file(out.fileno())
    if not base.state.is_of(base.path.stat()):
        raise changed_meanwhile(base.path)


def copy_file(source: Path, copy: Path, advance: Advance) -> None:
    """Copy a file's bytes to a new file, and sync it. Raises OSError."""
    with source.open("rb", buffering=0) as before, copy.open("xb") as out:
        while piece := before.read(_PIECE_BYTES):
            out.write(piece)
            advance(len(piece))
        out.flush()
        sync_file(out.fileno())


@contextmanager
def writing_errors(target: Path, part: Path, size: int) -> Generator[None]:
    """Turn the system's errors into ours.

    `part` is the file or folder that becomes `target`; `size` bytes are needed for it.
    """
    try:
        with host_memory_errors():
            yield
    except OSError as error:
        if error.errno in FULL:
            raise no_room(target, size, str(error)) from error
        found = None if error.filename is None else Path(error.filename)
        if found is None or part in (found, *found.parents) or found == target:
            raise not_writable(target, as_it_is(error.strerror or str(error))) from error
        raise unreadable(found, error) from error


def no_room(target: Path, size: int, detail: str = "") -> EngineError:
    """Return the error for a disk without `size` bytes for `target`."""
    return EngineError(
        ErrorCode.DISK_FULL,
        sentence(
            "There is no room for {target} in {parent}: {size:,.0f} MB are needed.",
            target=target.name,
            parent=target.parent,
            size=size / 1000000.0,
        ),
        sentence("Free some space, or write it to another disk."),
        detail,
    )


def not_writable(target: Path, reason: Sentence) -> EngineError:
    """Return the error for a place that cannot be written to."""
    return EngineError(
        ErrorCode.OUTPUT_NOT_WRITABLE,
        sentence(
            "{target} cannot be written to {parent}: {reason}.",
            target=target.name,
            parent=target.parent,
            reason=reason,
        ),
        sentence("Choose another folder."),
    )


def changed_meanwhile(path: Path) -> EngineError:
    """Return the error for a file that another program writes to."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence("{path} changed while it was read.", path=path.name),
        sentence("If it is still downloading, wait until that has finished."),
    )


def _data(
    base: BaseFile, source: BinaryIO, changes: Sequence[Change]
) -> Iterator[memoryview | bytes]:
    """Yield the bytes of all tensors in the new file's order."""
    stops = [change.stop for change in changes]
    for key in base.by_place:
        tensor = base.tensors[key]
        place, end = tensor.offset, tensor.offset + tensor.nbytes
        for change in changes[bisect_right(stops, place) :]:
            if change.start >= end:
                break
            yield from _stored(base.path, source, place, change.start)
            numbers = change.numbers().reshape(-1).view(np.uint8).data
            place = max(place, change.start)
            yield numbers[place - change.start : end - change.start]
            place = min(change.stop, end)
        yield from _stored(base.path, source, place, end)


def _stored(path: Path, source: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes of an open file from `start` to `stop`. Raises EngineError at its end."""
    source.seek(start)
    while start < stop:
        piece = source.read(min(_PIECE_BYTES, stop - start))
        if not piece:
            raise changed_meanwhile(path)
        yield piece
        start += len(piece)
