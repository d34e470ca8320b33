"""Results of encoders that are asked the same again: kept in memory, and in files of the cache.

A file is a safetensors file with checksums, as working copies are (`engine.weights.copy_file`),
named by digests of the network and of its inputs. It holds no inputs, so no texts or pictures.
"""

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from threading import Event, Lock

import msgspec
import numpy as np

from backends.base import Array, ComputedArray, DType
from engine.api.machine import ArtifactInfo
from engine.api.values import ArtifactKind
from engine.cache_folder import CacheFolder, Entry
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.weights.copy_file import CHECKPOINT, NETWORK, copy_header, is_sound, write_copy
from engine.weights.sources import mapped

# In memory: about eight prompts as T5-XXL encodes them, or a hundred as CLIP does.
_MEMORY_BYTES = 64 << 20
_CAP_BYTES = 256 << 20
_SUFFIX = ".safetensors"
# The digits of a digest in the name of a file; the whole ones are in its metadata.
_DIGITS = 24
_MADE_BY, _MADE_OF, _DEVICE = "made_by", "made_of", "device"
# The types that runs return, by NumPy's.
_TYPES = {dtype.numpy: dtype for dtype in (DType.F32, DType.F16, DType.F64, DType.I64, DType.I32)}
_log = logging.getLogger(__name__)

# The outputs of a run by name.
Results = Mapping[str, Array]


class Maker(msgspec.Struct, frozen=True):
    """The network that makes results: a digest of all that they depend on but its inputs.

    The names are for people.
    """

    digest: str
    network: str
    checkpoint: str
    device: str

    @property
    def stem(self) -> str:
        """The common beginning of the names of its results' files."""
        return f"{self.network}-{self.digest[:_DIGITS]}"


class KeptResults:
    """Results by the digests of what they were made by and of; those used last are kept.

    Without a `folder` they are kept in memory alone. May be used from any thread.
    """

    def __init__(
        self,
        folder: Path | None = None,
        cap_bytes: int = _CAP_BYTES,
        memory_bytes: int = _MEMORY_BYTES,
    ) -> None:
        self._folder, self._memory_bytes = folder, memory_bytes
        self._files = CacheFolder(folder or Path(), cap_bytes, _SUFFIX)
        self._lock = Lock()
        self._results: OrderedDict[tuple[Maker, str], Results] = OrderedDict()

    def get(self, maker: Maker, given: str) -> Results | None:
        """Return what the network made of inputs of this digest, if it is kept.

        The arrays must not be written to.
        """
        with self._lock:
            found = self._results.get((maker, given))
            if found is not None:
                self._results.move_to_end((maker, given))
                return found
        found = self._read(maker, given) if self._folder is not None else None
        if found is not None:
            self._keep(maker, given, found)
        return found

    def put(self, maker: Maker, given: str, made: Results) -> None:
        """Keep results, in place of those that were not used for longest.

        Those of which there would be one or none are not kept. A folder that cannot be written to
        is no error.
        """
        if 2 * _bytes(made) > self._memory_bytes:
            return
        self._keep(maker, given, made)
        if self._folder is not None:
            self._write(self._folder, maker, given, made)

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Return a description of the results of each network in the folder, by name."""
        by_stem: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries():
            by_stem[_stem(entry)].append(entry)
        return tuple(_described(stem, entries) for stem, entries in sorted(by_stem.items()))

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the results under these names of `listed` (none given: all), in memory, too."""
        with self._lock:
            for maker, given in list(self._results):
                if not names or maker.stem in names:
                    del self._results[maker, given]
        files = [entry.name for entry in self._entries() if not names or _stem(entry) in names]
        if files:
            self._files.remove(files)

    def _keep(self, maker: Maker, given: str, made: Results) -> None:
        with self._lock:
            self._results[maker, given] = made
            self._results.move_to_end((maker, given))
            while sum(map(_bytes, self._results.values())) > self._memory_bytes:
                self._results.popitem(last=False)

    def _entries(self) -> list[Entry]:
        return self._files.entries() if self._folder is not None else []

    def _read(self, maker: Maker, given: str) -> Results | None:
        """Return the results in a file; one that is damaged or another's is deleted."""
        name = f"{maker.stem}-{given[:_DIGITS]}"
        lock = self._files.hold(name)
        if lock is None:
            return None
        try:
            found = _content(self._files.path(name), _metadata(maker, given), self._memory_bytes)
        except (OSError, ValueError, EngineError):
            found = None
        finally:
            lock.release()
        if found is None:
            _log.warning("the kept result %s is damaged and is made again", name)
            self._files.remove([name])
        return found

    def _write(self, folder: Path, maker: Maker, given: str, made: Results) -> None:
        if any(array.dtype not in _TYPES for array in made.values()):
            return
        parts = {name: ComputedArray(array, _TYPES[array.dtype]) for name, array in made.items()}
        header = copy_header(parts, DType.F32, _metadata(maker, given))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._files.make_room(len(header) + _bytes(made))
            path = self._files.path(f"{maker.stem}-{given[:_DIGITS]}")
            write_copy(path, header, iter(made.values()))
        except OSError as error:
            _log.warning("a result of %s is not kept: %s", maker.network, error)


def _metadata(maker: Maker, given: str) -> dict[str, str]:
    return {
        NETWORK: maker.network,
        CHECKPOINT: maker.checkpoint,
        _DEVICE: maker.device,
        _MADE_BY: maker.digest,
        _MADE_OF: given,
    }


def _content(path: Path, wanted: Mapping[str, str], most_bytes: int) -> Results | None:
    """Return the arrays of a file; None if it is damaged, too large, or of other digests.

    Raises OSError, ValueError and EngineError for files that cannot be read.
    """
    index: TensorIndex = read_index(path)
    is_its = all(index.metadata.get(key) == wanted[key] for key in (_MADE_BY, _MADE_OF))
    size = sum(tensor.nbytes for tensor in index.tensors.values())
    if not is_its or size > most_bytes or not is_sound(path, Event()):
        return None
    return {name: _frozen(np.array(mapped(tensor))) for name, tensor in index.tensors.items()}


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _bytes(made: Results) -> int:
    return sum(array.nbytes for array in made.values())


def _stem(entry: Entry) -> str:
    return entry.name.rpartition("-")[0]


def _described(stem: str, entries: Collection[Entry]) -> ArtifactInfo:
    newest = max(entries, key=lambda entry: entry.last_used)
    try:
        facts: Mapping[str, str] = read_index(newest.path).metadata
    except (OSError, EngineError):  # a damaged file is listed, too
        facts = {}
    return ArtifactInfo(
        name=stem,
        kind=ArtifactKind.ENCODED_PROMPTS,
        bytes=sum(entry.bytes for entry in entries),
        last_used=newest.last_used,
        network=facts.get(NETWORK, ""),
        checkpoint=facts.get(CHECKPOINT, ""),
        device=facts.get(_DEVICE, ""),
    )
