"""Working copies: a component's weights, converted once and kept in the cache as a mapped file.

A runtime that must convert weights keeps the converted arrays for as long as it lives, in private
memory. Mapped from a file they are page cache instead, and the next start converts nothing. The
copies are safetensors files, named by content and numbered by layout, written under a temporary
name and then renamed; the least recently used are deleted when the cache exceeds its cap. Copies
are checked for damage in the background (`engine.weights.copy_checks`); a job waits for the result
before it saves a picture.
"""

import contextlib
import glob
import itertools
import logging
import re
import shutil
from collections.abc import Collection, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from types import MappingProxyType

from backends.base import Array, Cancellation, DType, FileSlice, WeightRef
from engine.api.machine import ArtifactInfo
from engine.api.remedies import RaiseMemoryLimit
from engine.api.sentences import sentence
from engine.api.values import ArtifactKind, ErrorCode
from engine.cache_folder import CacheFolder
from engine.checkpoints.known_files import KnownFiles
from engine.checkpoints.safetensors import read_index
from engine.errors import Cancelled, EngineError
from engine.file_lock import FileLock
from engine.weights.binding import Report
from engine.weights.copy_checks import CopyChecks
from engine.weights.copy_errors import no_disk, not_written
from engine.weights.copy_file import (
    CHECKPOINT,
    NETWORK,
    converted_bytes,
    copy_header,
    has_sums,
    write_copy,
)
from engine.weights.packing import PackedWeight, bound_type
from engine.weights.sources import WeightSource, mapped

CAP_BYTES = 24 << 30
# What a copy that is made only to save time must leave free on the disk: ten times its own size,
# or these bytes where that is less.
_SPARE_TIMES, _SPARE_BYTES = 10, 20 << 30
_SUFFIX = ".safetensors"
# The end of a key of `key_for`: a number or none, which in older copies begins otherwise.
_NUMBERED = re.compile(r"(-?\d.*)?")
_NO_WEIGHTS: Mapping[str, WeightSource] = MappingProxyType({})
_log = logging.getLogger(__name__)


class WorkingCopies:
    """The folder of working copies. May be used from any thread."""

    def __init__(
        self,
        folder: Path,
        cap_bytes: int = CAP_BYTES,
        known: KnownFiles | None = None,
        kind: ArtifactKind = ArtifactKind.CONVERTED_WEIGHTS,
    ) -> None:
        """Open the folder; `known` keeps the results of checks beyond this process.

        `kind` is the kind of all its copies, for `listed`.
        """
        self.folder, self._kind = folder, kind
        self._checks = CopyChecks(known)
        # The keys of copies that were found damaged and have not been made again.
        self._damaged: set[str] = set()
        self._cache = CacheFolder(folder, cap_bytes, _SUFFIX)
        self._lock = Lock()
        # The locks of the copies that `holding` protects, by key, and the number of its blocks.
        self._held: dict[str, FileLock] = {}
        self._holding = 0
        # The thread that writes the copies of `make_beside`, one after another.
        self._writer: ThreadPoolExecutor | None = None
        self._unwanted = Event()

    @contextlib.contextmanager
    def holding(self) -> Generator[None]:
        """Protect the copies that are found or made within the block from being removed."""
        with self._lock:
            self._holding += 1
        try:
            yield
        finally:
            with self._lock:
                self._holding -= 1
                if not self._holding:
                    for lock in self._held.values():
                        lock.release()
                    self._held.clear()
                    self._checks.abandon()

    def key_for(self, name: str, weights: Mapping[str, WeightSource | WeightRef]) -> str:
        """Return the key of the copy of `weights`: a name, or that name and a number.

        Runtimes have some weights of one network in other layouts, under names of their own. So it
        is that of a copy that holds all `weights`, with others or not; else of one that a copy of
        `weights` may replace, as it holds nothing else; else a new one.
        """
        found = self.folder.glob(f"{glob.escape(name)}*{_SUFFIX}")
        named = (path.name.removesuffix(_SUFFIX) for path in sorted(found))
        keys = [key for key in named if _NUMBERED.fullmatch(key.removeprefix(name))]
        for key in keys:
            if self._look(key, weights) is not None:
                return key
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        unused = (key for key in itertools.chain((name,), numbered) if key not in keys)
        return next((key for key in keys if self._holds_only(key, weights)), next(unused))

    def _holds_only(self, key: str, weights: Collection[str]) -> bool:
        """Return True if a copy has no weight beside these, or cannot be read."""
        try:
            return read_index(self._cache.path(key)).tensors.keys() <= set(weights)
        except EngineError:
            return True

    def find(
        self, key: str, weights: Mapping[str, WeightSource | WeightRef]
    ) -> dict[str, FileSlice] | None:
        """Return the slices of the copy under `key`, if it is complete and holds all `weights`.

        An unchecked copy is checked for damage in the background: call `require_sound` before you
        keep a result that was made with it.
        """
        self._hold(key)
        found = self._look(key, weights)
        if found is not None:
            self._checks.begin(self._cache.path(key))
        return found

    def find_sound(
        self, key: str, weights: Mapping[str, WeightSource | WeightRef], cancel: Cancellation
    ) -> dict[str, FileSlice] | None:
        """Return the slices of a copy as `find` does, but only after its check found it sound.

        Raises Cancelled.
        """
        found = self.find(key, weights)
        if found and self._drop(self._checks.damaged([self._cache.path(key)], cancel)):
            return None
        return found

    def require_sound(self, cancel: Cancellation) -> None:
        """Wait until all copies that were found are checked.

        Raises EngineError(WORKING_COPY_DAMAGED) if one is damaged, after dropping it; Cancelled.
        """
        names = self._drop(self._checks.damaged(None, cancel))
        if names:
            raise EngineError(
                ErrorCode.WORKING_COPY_DAMAGED,
                sentence(
                    "A copy of the weights in the cache was damaged; what was made with it "
                    "was not kept, and was made again without it."
                ),
                sentence(
                    "If this comes back, the disk or the memory of this computer may be failing."
                ),
                ", ".join(names),
            )

    def has(self, key: str, weights: Mapping[str, WeightSource | WeightRef] = _NO_WEIGHTS) -> bool:
        """Return True if the copy under `key` holds `weights` and is not known as damaged."""
        return self._look(key, weights) is not None

    def has_any(self, pattern: str) -> bool:
        """Return True if there is a copy as `has` finds it whose key matches a glob pattern."""
        found = self.folder.glob(f"{pattern}{_SUFFIX}")
        return any(self.has(path.name.removesuffix(_SUFFIX)) for path in found)

    def _look(
        self, key: str, weights: Mapping[str, WeightSource | WeightRef]
    ) -> dict[str, FileSlice] | None:
        if key in self._damaged:
            return None
        try:
            index = read_index(self._cache.path(key))
        except EngineError:
            return None
        if not has_sums(index):
            return None
        found = {name: index.tensors[name] for name in weights if name in index.tensors}
        if any(name not in found or found[name].shape != weights[name].shape for name in weights):
            return None
        return found

    def make(
        self,
        key: str,
        weights: Mapping[str, WeightSource],
        element: DType,
        report: Report,
        made_of: tuple[str, str] = ("", ""),
    ) -> dict[str, FileSlice]:
        """Write the copy and return its slices. Raises EngineError: DISK_FULL, CACHE_NOT_WRITABLE.

        Nothing is converted where the disk lacks the room. `made_of` is the names of the network
        and the checkpoint, for `listed`.
        """
        path, header = self._cache.path(key), copy_header(weights, element, _names(made_of))
        size = len(header) + sum(converted_bytes(ref, element) for ref in weights.values())
        # Where there is memory for all weights, those in blocks are still written.
        packs = any(isinstance(source, PackedWeight) for source in weights.values())
        remedies = () if packs else (RaiseMemoryLimit(),)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            room = self.room()
            # Copies are not given up for one that has no room even so.
            if room is None or size <= room:
                self._cache.make_room(size)
                room = self._cache.free()
            if size > room:
                raise no_disk(self.folder, size, room, remedies)
            self._write(key, header, _converted(weights, element, report))
        except OSError as error:
            # Another process made the same copy meanwhile: Windows replaces no file that is open.
            found = self.find(key, weights)
            if found is not None:
                return found
            raise not_written(self.folder, size, error, remedies) from error
        self._hold(key)
        index = read_index(path)
        return {name: index.tensors[name] for name in weights}

    def room(self) -> int | None:
        """Return the bytes that all copies may take on their disk; None where it cannot be told.

        Copies that exist take them, too: the least recently used make room for others.
        """
        try:
            free = self._cache.free()
        except OSError:
            return None
        return free + sum(entry.bytes for entry in self._cache.entries())

    def make_beside(
        self,
        key: str,
        weights: Mapping[str, WeightRef],
        element: DType,
        made_of: tuple[str, str] = ("", ""),
    ) -> None:
        """Write a copy of weights already bound in `element` type, on another thread.

        The weights are held until the copy is written or `abandon` is called. No copy is made if
        it would nearly fill the disk or writing fails: it only saves time.
        """
        with self._lock:
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, "working copies")
            self._writer.submit(
                self._make_beside, key, dict(weights), element, made_of, self._unwanted
            )

    def abandon(self) -> None:
        """Cancel the copies that are not written yet, and wait until their weights are released."""
        with self._lock:
            writer, self._writer = self._writer, None
            self._unwanted.set()
            self._unwanted = Event()
        if writer is not None:
            writer.shutdown(cancel_futures=True)

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Return the description of every copy, by name."""
        return tuple(
            ArtifactInfo(
                name=entry.name,
                kind=self._kind,
                bytes=entry.bytes,
                last_used=entry.last_used,
                network=metadata.get(NETWORK, ""),
                checkpoint=metadata.get(CHECKPOINT, ""),
            )
            for entry in self._cache.entries()
            for metadata in [_metadata(entry.path)]
        )

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the copies with these names (none given: all), except those in use."""
        self._cache.remove(names)

    def _make_beside(
        self,
        key: str,
        weights: dict[str, WeightRef],
        element: DType,
        made_of: tuple[str, str],
        unwanted: Event,
    ) -> None:
        def arrays() -> Iterator[Array]:
            for ref in weights.values():
                if unwanted.is_set():
                    raise Cancelled
                yield mapped(ref) if isinstance(ref, FileSlice) else ref.array

        header = copy_header(weights, element, _names(made_of))
        size = len(header) + sum(ref.nbytes for ref in weights.values())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            room = shutil.disk_usage(self.folder).free - size
            # Another job may have written it since this one began.
            if room >= min(_SPARE_TIMES * size, _SPARE_BYTES) and self._look(key, weights) is None:
                self._cache.make_room(size)
                self._write(key, header, arrays())
        except Cancelled:
            pass
        except OSError as error:
            _log.warning("the working copy %s is not written: %s", key, error)

    def _write(self, key: str, header: bytes, arrays: Iterator[Array]) -> None:
        path = self._cache.path(key)
        with self._lock:
            # The lock of an unusable copy, which Windows would not replace while we have it open.
            stale = self._held.pop(key, None)
        if stale is not None:
            stale.release()
        write_copy(path, header, arrays)
        self._checks.note_written(path)
        with self._lock:
            self._damaged.discard(key)

    def _hold(self, key: str) -> None:
        with self._lock:
            if key in self._held:
                return
            checked = self._checks.before_touch(self._cache.path(key))
            lock = self._cache.hold(key)
            self._checks.touched(checked)
            if lock and self._holding:
                self._held[key] = lock
            elif lock:
                lock.release()

    def _drop(self, paths: Collection[Path]) -> list[str]:
        """Mark copies as damaged, delete them unless held elsewhere, and return their keys."""
        names = [path.name.removesuffix(_SUFFIX) for path in paths]
        with self._lock:
            self._damaged.update(names)
            locks = [self._held.pop(name) for name in names if name in self._held]
        for lock in locks:
            lock.release()
        if names:
            self._cache.remove(names)
        return names


def _names(made_of: tuple[str, str]) -> dict[str, str]:
    return dict(zip((NETWORK, CHECKPOINT), made_of, strict=True))


def _metadata(path: Path) -> Mapping[str, str]:
    try:
        return read_index(path).metadata
    except EngineError:  # a damaged copy is listed, too
        return {}


def _converted(
    weights: Mapping[str, WeightSource], element: DType, report: Report
) -> Iterator[Array]:
    """Yield the weights in `element` type, in order, converted in batches of 8."""

    def read(source: WeightSource) -> Array:
        return source.read_as(bound_type(source, element))

    sources = list(weights.values())
    total, done = sum(converted_bytes(source, element) for source in sources), 0
    with ThreadPoolExecutor() as pool:
        for start in range(0, len(sources), 8):
            batch = sources[start : start + 8]
            yield from pool.map(read, batch)
            done += sum(converted_bytes(source, element) for source in batch)
            report(done, total)
