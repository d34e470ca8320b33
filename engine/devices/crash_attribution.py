"""Which device was at work when the engine ended without a word: a driver may take it along.

While a job computes on a device with memory of its own there is a file that says so, and a lock on
it that ends with the process. What is found without its lock was left by a process that crashed,
was killed, or lost power. On the processor, and what shares its memory, the likeliest end is the
system's, which had no memory left; that is held against no device.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import msgspec

from backends.base import Cancellation, Device
from engine.cached_state import recall
from engine.file_lock import FileLock


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    backend: str
    device: str
    name: str


_DECODER = msgspec.json.Decoder(_Work)
_MOST_BYTES = 1 << 16


class AtWork:
    """The folder of those files. Where nothing can be written nothing is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def on(self, device: Device, cancel: Cancellation) -> Generator[None]:
        """Within the block the device is at work; not any more once the user asks to stop.

        Who asks to stop may end the process next, and that is no failure.
        """
        path = self._folder / f"{uuid4().hex}.json"
        lock = self._begin(path, device)
        try:
            with cancel.calling(lambda: _empty(path)):
                yield
        finally:
            if lock is not None:
                _empty(path)
                lock.release()
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def left(self) -> Iterator[Device]:
        """Yield the devices that were at work when their process ended, each once."""
        for path in self._folder.glob("*.json"):
            with suppress(OSError):  # its process is alive, or another one looks
                lock = FileLock(path)
                try:
                    # One that is empty was done.
                    work = recall(path, _DECODER, _MOST_BYTES) if path.stat().st_size else None
                finally:
                    lock.release()
                path.unlink(missing_ok=True)
                if work is not None:
                    yield Device(work.backend, work.device, work.name)

    def _begin(self, path: Path, device: Device) -> FileLock | None:
        work = _Work(backend=device.backend, device=device.id, name=device.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, create=True)
        except OSError:
            return None
        with suppress(OSError):
            path.write_bytes(msgspec.json.encode(work))
        return lock


def _empty(path: Path) -> None:
    """Say nothing any more; a file that is open cannot be deleted everywhere."""
    with suppress(OSError):
        os.truncate(path, 0)
