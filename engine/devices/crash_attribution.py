"""Crash attribution: finds the device that was running when the engine process died.

While a job runs on a device with memory of its own, a file names the device, and a file lock is
held that the system releases when the process ends. A file that is found unlocked was left by a
process that crashed, was killed or lost power. The processor and devices that share its memory are
not recorded: there the likeliest cause is that the system ran out of memory.
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


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    backend: str
    device: str
    name: str


_DECODER = msgspec.json.Decoder(_Marker)
_MOST_BYTES = 1 << 16


class CrashMarkers:
    """The folder of marker files. Where it cannot be written, no crash is attributed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def running(self, device: Device, cancel: Cancellation) -> Generator[None]:
        """Mark the device as running inside the block, until the user asks to stop.

        A user who asked to stop may end the process next; that is not the device's failure.
        """
        path = self._folder / f"{uuid4().hex}.json"
        lock = self._begin(path, device)
        try:
            with cancel.calling(lambda: _clear(path)):
                yield
        finally:
            if lock is not None:
                _clear(path)
                lock.release()
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def crashed(self) -> Iterator[Device]:
        """Yield the devices that were running when their process ended, each once."""
        for path in self._folder.glob("*.json"):
            with suppress(OSError):  # the process is alive, or another process reads the marker
                lock = FileLock(path)
                try:
                    # An empty marker belongs to a job that was done.
                    marker = recall(path, _DECODER, _MOST_BYTES) if path.stat().st_size else None
                finally:
                    lock.release()
                path.unlink(missing_ok=True)
                if marker is not None:
                    yield Device(marker.backend, marker.device, marker.name)

    def _begin(self, path: Path, device: Device) -> FileLock | None:
        marker = _Marker(backend=device.backend, device=device.id, name=device.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, create=True)
        except OSError:
            return None
        with suppress(OSError):
            path.write_bytes(msgspec.json.encode(marker))
        return lock


def _clear(path: Path) -> None:
    """Clear a marker. Windows cannot delete a file that is open."""
    with suppress(OSError):
        os.truncate(path, 0)
