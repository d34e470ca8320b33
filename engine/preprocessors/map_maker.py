"""Maps made one after another on the processor, for previews and for pictures alike."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from threading import Lock

import msgspec

from backends.base import Cancellation
from backends.cpu import CpuBackend
from engine.api.preprocessors import MapOptions, MapTarget, PreprocessorName, name_of
from engine.checkpoints.index import Stamp
from engine.compile.compiler import Compiler
from engine.errors import Cancelled
from engine.preprocessors.annotators import MapNetwork
from engine.preprocessors.loading import files_of, read_networks
from engine.preprocessors.onnx_trial import OnnxTrials
from engine.preprocessors.run import make_map, require_network, require_within
from engine.preprocessors.scales import Pixels
from engine.weights.working_copies import WorkingCopies


class MapOrder(msgspec.Struct, frozen=True):
    """A preprocessor's options, the file of its weights, and what the map is for.

    Without `weights` the file is looked for by its usual names where the preprocessor needs one.
    """

    options: MapOptions
    weights: Path | None = None
    target: MapTarget | None = None

    @property
    def preprocessor(self) -> PreprocessorName:
        """The name of the preprocessor."""
        return name_of(self.options)


class WantedMap(msgspec.Struct, frozen=True, eq=False):
    """A picture, uint8 [height, width, 3], and the order for its map."""

    picture: Pixels
    order: MapOrder


# Makes the maps of pictures, in their order; raises as `MapMaker.make`.
MakeMaps = Callable[[Sequence[WantedMap], Cancellation], list[Pixels]]


def plain_maps(wanted: Sequence[WantedMap], _cancel: Cancellation) -> list[Pixels]:
    """Return the maps of pictures by preprocessors without weights. Raises as `make_map`."""
    return [make_map(map_.picture, map_.order.options, None, map_.order.target) for map_ in wanted]


class MapMaker:
    """Makes maps on the processor. The network of the last file stays loaded until `release`.

    May be used from any thread; maps are made one by one. `tried` is a folder of the cache.
    """

    def __init__(self, copies: WorkingCopies, tried: Path) -> None:
        self._copies, self._trials = copies, OnnxTrials(tried)
        self._lock = Lock()
        self._loaded: tuple[tuple[tuple[Path, Stamp], ...], MapNetwork] | None = None

    def make(
        self, picture: Pixels, order: MapOrder, folders: Iterable[Path], cancel: Cancellation
    ) -> Pixels:
        """Return the map of a picture, uint8 [height, width, 3]; weights may be in the folders.

        Raises EngineError as `make_map` and the readers of files, and Cancelled.
        """
        require_within(order.options)
        with self._lock:
            if cancel.is_set():
                raise Cancelled
            files = files_of(order.preprocessor, order.weights, folders)
            try:
                network = self._network(order, files, cancel)
                return make_map(picture, order.options, network, order.target)
            finally:
                # Its session runs no more, even where the map was ready just before.
                if cancel.is_set():
                    self._close()

    def make_all(
        self, wanted: Sequence[WantedMap], folders: Iterable[Path], cancel: Cancellation
    ) -> list[Pixels]:
        """Return the maps of several pictures, in their order, and keep no network loaded.

        Those of one network are made one after another, so that it is loaded once. Raises as
        `make`.
        """
        searched = tuple(folders)
        alike: dict[tuple[PreprocessorName, Path | None], list[int]] = {}
        for place, map_ in enumerate(wanted):
            alike.setdefault((map_.order.preprocessor, map_.order.weights), []).append(place)
        made: dict[int, Pixels] = {}
        try:
            for place in chain.from_iterable(alike.values()):
                map_ = wanted[place]
                made[place] = self.make(map_.picture, map_.order, searched, cancel)
        finally:
            self.release()
        return [made[place] for place in range(len(wanted))]

    def release(self) -> None:
        """Free the network that is loaded, unless it is in use."""
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()

    def _network(
        self, order: MapOrder, files: tuple[Path, ...], cancel: Cancellation
    ) -> MapNetwork | None:
        """Return the network of files, loaded; None without a file."""
        stamps = tuple((path, Stamp.of(path.stat())) for path in files if path.is_file())
        if files and self._loaded is not None and self._loaded[0] == stamps:
            network = self._loaded[1]
            require_network(order.preprocessor, network.kind)
            network.heed(cancel)
            return network
        read = read_networks(order.options, files, self._trials)
        if read is None:
            return None
        self._close()
        backend = CpuBackend()
        network = read.load(Compiler(backend, backend.probe()[0], self._copies), cancel)
        self._loaded = stamps, network
        return network

    def _close(self) -> None:
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None
