"""Working copies: a component's weights, converted once and kept in the cache as a mapped file.

A runtime that must convert weights keeps the converted arrays for as long as it lives, in private
memory. Mapped from a file they are page cache instead, and the next start converts nothing. The
copies are safetensors files, named by content, written beside and renamed into place; the least
recently used go first when the cache outgrows its cap.
"""

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Collection, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from threading import Lock

from backends.base import Array, DType, FileSlice
from engine.api.messages import ArtifactInfo
from engine.api.values import ErrorCode
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.graphs.weights import Report, WeightSource, converted_weight

CAP_BYTES = 24 << 30
_SUFFIX = ".safetensors"
_UNFINISHED = ".part"
# An unfinished copy this old belongs to no process that still writes it.
_ABANDONED_S = 24 * 3600


class WorkingCopies:
    """The folder of working copies."""

    def __init__(self, folder: Path, cap_bytes: int = CAP_BYTES) -> None:
        self.folder = folder
        self.cap_bytes = cap_bytes
        self._lock = Lock()
        # Copies that `holding` protects; None outside of it.
        self._held: set[str] | None = None

    @contextlib.contextmanager
    def holding(self) -> Generator[None]:
        """Within the block `remove` leaves the copies that are found or made there."""
        self._held = set()
        try:
            yield
        finally:
            self._held = None

    def find(self, key: str, weights: Mapping[str, WeightSource]) -> dict[str, FileSlice] | None:
        """The copy kept under `key`, if it is whole and holds all of `weights`."""
        path = self._path(key)
        self._hold(key)
        try:
            index = read_index(path)
        except EngineError:
            return None
        found = {name: index.tensors[name] for name in weights if name in index.tensors}
        if any(name not in found or found[name].shape != weights[name].shape for name in weights):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # recently used
        return found

    def make(
        self, key: str, weights: Mapping[str, WeightSource], element: DType, report: Report
    ) -> dict[str, FileSlice]:
        """Write the copy and return its slices. Raises EngineError(DISK_FULL)."""
        path, header = self._path(key), _header(weights, element)
        self._hold(key)
        size = len(header) + sum(_converted_bytes(ref, element) for ref in weights.values())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            self._evict(size)
            self._write(path, header, _converted(weights, element, report))
        except OSError as error:
            raise EngineError(
                ErrorCode.DISK_FULL,
                f"The working copy of the weights ({size / 1e9:.1f} GB) cannot be written to "
                f"{self.folder}: {error.strerror}.",
                "Free some disk space, or raise the memory limit.",
            ) from error
        index = read_index(path)
        return {name: index.tensors[name] for name in weights}

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Every copy, by name."""
        found: list[ArtifactInfo] = []
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            with contextlib.suppress(OSError):  # evicted meanwhile
                facts = path.stat()
                found.append(
                    ArtifactInfo(name=path.stem, bytes=facts.st_size, last_used=facts.st_mtime)
                )
        return tuple(found)

    def remove(self, names: Collection[str]) -> None:
        """Delete the copies of these names, or all if there are none, but for those in use."""
        with self._lock:
            for path in self.folder.glob(f"*{_SUFFIX}"):
                held = self._held is not None and path.stem in self._held
                if (not names or path.stem in names) and not held:
                    # Windows does not delete what is mapped; then it stays in the list.
                    with contextlib.suppress(OSError):
                        path.unlink()

    def _hold(self, key: str) -> None:
        with self._lock:
            if self._held is not None:
                self._held.add(key)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _write(self, path: Path, header: bytes, arrays: Iterator[Array]) -> None:
        file = tempfile.NamedTemporaryFile(dir=self.folder, suffix=_UNFINISHED, delete=False)  # noqa: SIM115 (renamed, not deleted)
        try:
            with file:
                file.write(header)
                for array in arrays:
                    file.write(array.tobytes())
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise

    def _sweep(self) -> None:
        """Delete what processes that were killed left unfinished."""
        for path in self.folder.glob(f"*{_UNFINISHED}"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    path.unlink()

    def _evict(self, needed: int) -> None:
        """Delete the least recently used copies until `needed` more bytes stay under the cap."""
        copies = sorted(self.folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime)
        total = sum(path.stat().st_size for path in copies)
        for path in copies:
            if total + needed <= self.cap_bytes:
                return
            total -= path.stat().st_size
            path.unlink(missing_ok=True)


def _converted_bytes(source: WeightSource, element: DType) -> int:
    return source.elements * element.itemsize


def _header(weights: Mapping[str, WeightSource], element: DType) -> bytes:
    """A safetensors header: its length in eight bytes, then JSON padded to a multiple of eight."""
    entries: dict[str, object] = {}
    offset = 0
    for name, ref in weights.items():
        end = offset + _converted_bytes(ref, element)
        entries[name] = {
            "dtype": element.value,
            "shape": list(ref.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _converted(
    weights: Mapping[str, WeightSource], element: DType, report: Report
) -> Iterator[Array]:
    """The weights in `element` type, in order, a few ahead of the writer."""
    sources = list(weights.values())
    total, done = sum(_converted_bytes(source, element) for source in sources), 0
    with ThreadPoolExecutor() as pool:
        for start in range(0, len(sources), 8):
            batch = sources[start : start + 8]
            yield from pool.map(converted_weight, batch, repeat(element))
            done += sum(_converted_bytes(source, element) for source in batch)
            report(done, total)
