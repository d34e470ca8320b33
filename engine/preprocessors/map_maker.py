"""Maps made one after another on the processor, for previews and for pictures alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from backends.base import Cancellation
from backends.cpu import CpuBackend
from engine.api.preprocessors import MapOptions, MapTarget, PreprocessorName, name_of
from engine.checkpoints.index import Stamp
from engine.compile.compiler import Compiler
from engine.errors import Cancelled
from engine.preprocessors.annotators import LoadedAnnotator, load_annotator, read_annotator
from engine.preprocessors.finding import find_weights
from engine.preprocessors.run import make_map, require_network, require_within
from engine.preprocessors.scales import Pixels
from engine.weights.working_copies import WorkingCopies


@dataclass(frozen=True, slots=True)
class MapOrder:
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


class MapMaker:
    """Makes maps on the processor. The network of the last file stays loaded until `release`.

    May be used from any thread; maps are made one by one.
    """

    def __init__(self, copies: WorkingCopies) -> None:
        self._copies = copies
        self._lock = Lock()
        self._loaded: tuple[Path, Stamp, LoadedAnnotator] | None = None

    def make(
        self, picture: Pixels, order: MapOrder, folders: Iterable[Path], cancel: Cancellation
    ) -> Pixels:
        """Return the map of a picture, uint8 [height, width, 3]; weights may be in the folders.

        Raises EngineError as `make_map` and `read_annotator`, and Cancelled.
        """
        require_within(order.options)
        with self._lock:
            if cancel.is_set():
                raise Cancelled
            weights = weights_of(order, folders)
            try:
                network = self._network(order.preprocessor, weights, cancel)
                return make_map(picture, order.options, network, order.target)
            except Cancelled:
                self._close()
                raise

    def release(self) -> None:
        """Free the network that is loaded, unless it is in use."""
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()

    def _network(
        self, name: PreprocessorName, weights: Path | None, cancel: Cancellation
    ) -> LoadedAnnotator | None:
        """Return the network of a file, loaded; None without a file."""
        if weights is None:
            require_network(name, None)
            return None
        stamp = Stamp.of(weights.stat()) if weights.is_file() else None
        if self._loaded is not None:
            path, known, network = self._loaded
            if (path, known) == (weights, stamp):
                require_network(name, network.kind)
                network.cancel = cancel
                return network
            self._close()
        annotator = read_annotator(weights)
        require_network(name, annotator.kind)
        backend = CpuBackend()
        compiler = Compiler(backend, backend.probe()[0], self._copies)
        network = load_annotator(annotator, compiler, cancel)
        if stamp is not None:
            self._loaded = weights, stamp, network
        return network

    def _close(self) -> None:
        if self._loaded is not None:
            self._loaded[2].close()
            self._loaded = None


def weights_of(order: MapOrder, folders: Iterable[Path]) -> Path | None:
    """Return the file of weights of an order; None if its preprocessor has none, or none is found.

    A file that is named for a preprocessor without weights is returned, too, to be refused.
    """
    return order.weights or find_weights(order.preprocessor, folders)
