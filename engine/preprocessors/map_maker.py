"""Maps made one after another on the processor, for previews and for pictures alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from backends.base import Cancellation
from backends.cpu import CpuBackend
from engine.api.preprocessors import (
    PREPROCESSORS,
    MapOptions,
    MapTarget,
    OnnxOptions,
    PoseOptions,
    PreprocessorName,
    name_of,
)
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.index import Stamp
from engine.compile.compiler import Compiler
from engine.errors import Cancelled, EngineError
from engine.preprocessors.annotators import (
    AnnotatorKind,
    MapNetwork,
    load_annotator,
    read_annotator,
)
from engine.preprocessors.finding import find_file, find_weights
from engine.preprocessors.onnx_files import SUFFIX, LoadedOnnx, OnnxFile
from engine.preprocessors.onnx_trial import OnnxTrials
from engine.preprocessors.pose.posing import JOINTS_SIZE, PEOPLE_SIZE, PoseNetworks
from engine.preprocessors.run import make_map, require_network, require_within
from engine.preprocessors.scales import Pixels
from engine.weights.working_copies import WorkingCopies

# Pixels of the square that a file with open sides is tried with.
_TRIED_SIDE = 512


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
            files = files_of(order, folders)
            try:
                network = self._network(order, files, cancel)
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
        self, order: MapOrder, files: tuple[Path, ...], cancel: Cancellation
    ) -> MapNetwork | None:
        """Return the network of files, loaded; None without a file."""
        if not files:
            require_network(order.preprocessor, None)
            return None
        stamps = tuple((path, Stamp.of(path.stat())) for path in files if path.is_file())
        if self._loaded is not None and self._loaded[0] == stamps:
            network = self._loaded[1]
        else:
            self._close()
            network = self._load(order, files, cancel)
            self._loaded = stamps, network
        require_network(order.preprocessor, network.kind)
        network.heed(cancel)
        return network

    def _load(self, order: MapOrder, files: tuple[Path, ...], cancel: Cancellation) -> MapNetwork:
        backend = CpuBackend()
        compiler = Compiler(backend, backend.probe()[0], self._copies)
        if files[0].suffix.lower() != SUFFIX:
            annotator = read_annotator(files[0])
            require_network(order.preprocessor, annotator.kind)
            return load_annotator(annotator, compiler, cancel)
        if isinstance(order.options, PoseOptions):
            return self._poses(files, compiler, cancel)
        require_network(order.preprocessor, AnnotatorKind.ONNX)
        side = order.options.side if isinstance(order.options, OnnxOptions) else None
        side = side or _TRIED_SIDE
        return self._onnx(files[0], (side, side), compiler, cancel)

    def _poses(
        self, files: tuple[Path, ...], compiler: Compiler, cancel: Cancellation
    ) -> PoseNetworks:
        if len(files) == 1:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("{path} needs a second file beside it.", path=files[0].name),
                sentence(
                    "Its usual name is {files}.",
                    files=PREPROCESSORS[PreprocessorName.DW_OPENPOSE].beside,
                ),
            )
        joints = self._onnx(files[0], JOINTS_SIZE, compiler, cancel)
        try:
            return PoseNetworks(self._onnx(files[1], PEOPLE_SIZE, compiler, cancel), joints)
        except EngineError:
            joints.close()
            raise

    def _onnx(
        self, path: Path, size: tuple[int, int], compiler: Compiler, cancel: Cancellation
    ) -> LoadedOnnx:
        file = OnnxFile(path)
        self._trials.require_harmless(file, *file.size(*size), cancel)
        return LoadedOnnx(file, compiler, cancel)

    def _close(self) -> None:
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None


def files_of(order: MapOrder, folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files of an order's weights: the named or the usual one, and the one beside it.

    None for a preprocessor without weights, or where none is found; a file that is named for a
    preprocessor without weights is returned, too, to be refused.
    """
    searched = tuple(folders)
    first = order.weights or find_weights(order.preprocessor, searched)
    beside = PREPROCESSORS[order.preprocessor].beside
    if first is None:
        return ()
    if not beside:
        return (first,)
    near = first.with_name(beside)
    second = near if near.is_file() else find_file((beside,), searched)
    return (first,) if second is None else (first, second)
