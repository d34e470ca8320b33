"""The hash of a whole file, by which tools and sites identify a checkpoint.

SHA-256 of the whole file; its first ten digits are A1111's "Model hash" (`modules/hashes.py`,
`sd_models.CheckpointInfo.shorthash` of version 1.10.1) and Civitai's AutoV2. The first twelve
digits of the hash of the tensors without the header are A1111's hash of a LoRA and Civitai's AutoV3
(`hashes.addnet_hash_safetensors`, after kohya's sd-scripts).

Run as a program it is a process of its own, with idle priority unless somebody waits for the hash.
A thread of low priority would not do: while it holds the interpreter lock, it blocks all others.
Standard library only, so that it starts at once.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from engine.priority import take_no_time_from_others
from engine.regular_file import open_regular

MODEL_HASH_DIGITS, TENSORS_HASH_DIGITS = 10, 12
_LENGTH_BYTES = 8
_CHUNK_BYTES = 4 << 20


class FullHash(msgspec.Struct, frozen=True):
    """Hexadecimal SHA-256 of a safetensors file, and of the bytes after its header."""

    whole: str
    tensors: str | None = None


def hash_file(path: Path, report: Callable[[int], None], *, tensors: bool = False) -> FullHash:
    """Read a file to its end; `report` gets the number of bytes done, and may raise to stop.

    `tensors` asks for the second hash too, at twice the processor time. Raises OSError.
    """
    whole, after_header = sha256(), sha256() if tensors else None
    buffer = memoryview(bytearray(_CHUNK_BYTES))
    done = 0
    with open_regular(path) as file:
        header_end = _LENGTH_BYTES + int.from_bytes(file.read(_LENGTH_BYTES), "little")
        file.seek(0)
        while count := file.readinto(buffer):
            whole.update(buffer[:count])
            if after_header is not None:
                after_header.update(buffer[max(0, min(count, header_end - done)) : count])
            done += count
            report(done)
    return FullHash(whole.hexdigest(), after_header.hexdigest() if after_header else None)


def main(arguments: Sequence[str]) -> int:
    """Print the number of bytes done, one line per percent, and then the hash of the last argument.

    After `--tensors` the hash of the tensors follows in the same line. With `--waited-for` the
    process keeps the priority of the one that started it. Ends when the reader of its output is
    gone. The exit status is 1 if the file cannot be read.
    """
    *flags, name = arguments
    if "--waited-for" not in flags:
        take_no_time_from_others()
    path = Path(name)
    reported = 0

    def tell(done: int) -> None:
        nonlocal reported
        if 100 * done // size > reported:
            reported = 100 * done // size
            print(done, flush=True)  # noqa: T201 (what its parent reads)

    try:
        size = max(1, path.stat().st_size)
        found = hash_file(path, tell, tensors="--tensors" in flags)
        print(found.whole, found.tensors or "", flush=True)  # noqa: T201
    except OSError:  # also that nobody reads
        return 1
    return 0


if __name__ == "__main__":
    # Without a reader there is nothing to report, not even at the interpreter's end.
    status = main(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(status)
