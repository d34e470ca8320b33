"""Files of weights for preprocessors: recognised by their keys, and loaded as networks.

The tools know them by their names alone: `controlnet_aux`, sd-webui-controlnet's `annotator/`.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Cancellation, Device, FileSlice, Precision, Session
from engine import result_checks
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.errors import EngineError
from engine.graphs.annotators.depth_anything import PATCH, depth_anything
from engine.graphs.annotators.hed import hed
from engine.graphs.annotators.line_drawing import line_drawing
from engine.graphs.annotators.pidinet import PidinetConfig, pidinet
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.preprocessors import depth_files
from engine.preprocessors.depth_keys import as_transformers
from engine.weights.sources import FileWeight, WeightSource
from engine.weights.weight_set import WeightSet

Tensors = Mapping[str, FileSlice]
Plane = NDArray[np.float32]
# The prefix of weights that were trained on several cards.
_PARALLEL = "module."
_RINGS = "block1_2.conv1.weight"


class AnnotatorKind(StrEnum):
    """The networks that make maps."""

    LINE_DRAWING = "line_drawing"
    HED = "hed"
    PIDINET = "pidinet"
    DEPTH_ANYTHING = "depth_anything"
    # DWPose's two networks, and any single one, of ONNX files.
    POSE = "pose"
    ONNX = "onnx"


class Annotator(msgspec.Struct, frozen=True):
    """A network that makes maps, of a file.

    `positions` are the embeddings of positions of a transformer, and `offset` the number by which
    its tool enlarges the patches' count to interpolate them.
    """

    kind: AnnotatorKind
    network: Network
    positions: WeightSource | None = None
    offset: float = 0.0


def read_annotator(path: Path) -> Annotator:
    """Recognise a file of weights, .pth or .safetensors.

    Raises the reader's errors, and EngineError(CHECKPOINT_UNKNOWN_FAMILY).
    """
    index = read_index(path)
    tensors = {name.removeprefix(_PARALLEL): tensor for name, tensor in index.tensors.items()}
    for signs, read in _SIGNS.items():
        if all(sign in tensors for sign in signs):
            found = read(index, tensors)
            if found is not None:
                return found
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is no file of weights that makes maps.", path=path.name),
        sentence(
            "Known are HED, PiDiNet, informative-drawings and Depth Anything V2 small, base, large."
        ),
    )


def is_annotator(index: TensorIndex) -> bool:
    """Return True for weights that seem to make maps, by the names of their tensors."""
    names = index.tensors
    has = (all(sign in names or _PARALLEL + sign in names for sign in signs) for signs in _SIGNS)
    return any(has)


class MapNetwork(Protocol):
    """Networks that are ready to make maps; those that were stopped make no others."""

    @property
    def kind(self) -> AnnotatorKind:
        """The kind of the networks."""
        ...

    def heed(self, cancel: Cancellation) -> None:
        """Have the runs from now on stopped by another request."""
        ...

    def close(self) -> None:
        """Free the networks' memory."""
        ...


class LoadedAnnotator:
    """A network that is ready to make maps; one that was stopped makes no others."""

    def __init__(
        self, annotator: Annotator, session: Session, device: Device, cancel: Cancellation
    ) -> None:
        self.kind, self._cancel = annotator.kind, cancel
        self._annotator, self._session, self._device = annotator, session, device

    def heed(self, cancel: Cancellation) -> None:
        """Have the runs from now on stopped by another request."""
        self._cancel = cancel

    def __call__(self, image: Plane) -> Plane:
        """Return the map, float32 [height, width], of a picture float32 [1, 3, height, width].

        Raises EngineError, also NUMERIC_FAILURE where the map has no numbers, and Cancelled.
        """
        feeds = {"image": np.ascontiguousarray(image)}
        positions = self._annotator.positions
        if positions is not None:
            rows, columns = (side // PATCH for side in image.shape[2:])
            trained = positions.read().astype(np.float32)
            offset = self._annotator.offset
            feeds["positions"] = depth_files.positions_for(trained, rows, columns, offset)
        with translated_errors(self._device), self._cancel.calling(self._session.cancel):
            made = self._session.run(feeds)["map"][0, 0]
        fault = result_checks.numbers(made)
        if fault is not None:
            raise EngineError(
                ErrorCode.NUMERIC_FAILURE,
                sentence(
                    "The map of {name} is {fault}.",
                    name=self._annotator.network.checkpoint,
                    fault=fault,
                ),
                sentence("The file may be damaged: download it again."),
            )
        return made

    def close(self) -> None:
        """Free the network's memory."""
        self._session.close()


def load_annotator(
    annotator: Annotator, compiler: Compiler, cancel: Cancellation
) -> LoadedAnnotator:
    """Load a network in float32, which every map is computed in. Raises EngineError, Cancelled."""
    session = compiler.load(
        annotator.network, Precision.F32, WeightPlacement.MEMORY, lambda _done, _total: None, cancel
    )
    return LoadedAnnotator(annotator, session, compiler.device, cancel)


def _network(
    index: TensorIndex, kind: AnnotatorKind, tensors: Tensors, emit: Callable[[GraphBuilder], None]
) -> Network:
    return Network(kind.value, emit, WeightSet(index.digest, tensors), checkpoint=index.path.name)


def _read_hed(index: TensorIndex, tensors: Tensors) -> Annotator:
    kind = AnnotatorKind.HED
    return Annotator(kind, _network(index, kind, tensors, hed))


def _read_lines(index: TensorIndex, tensors: Tensors) -> Annotator:
    kind = AnnotatorKind.LINE_DRAWING
    return Annotator(kind, _network(index, kind, tensors, line_drawing))


def _read_pidinet(index: TensorIndex, tensors: Tensors) -> Annotator:
    kind = AnnotatorKind.PIDINET
    config = PidinetConfig(converted=tensors[_RINGS].shape[-1:] == (5,))
    return Annotator(kind, _network(index, kind, tensors, partial(pidinet, config=config)))


def _read_depth(index: TensorIndex, tensors: Tensors) -> Annotator | None:
    original = depth_files.ORIGINAL_SIGNS[0] in tensors
    named = as_transformers(tensors) if original else tensors
    config = depth_files.read_config(named)
    if config is None:
        return None
    kind = AnnotatorKind.DEPTH_ANYTHING
    network = _network(index, kind, named, partial(depth_anything, config=config))
    positions = FileWeight(named[depth_files.POSITIONS])
    return Annotator(kind, network, positions, depth_files.ORIGINAL_OFFSET if original else 0.0)


# Keys that a file of each network has, and what reads it.
_SIGNS: Mapping[tuple[str, ...], Callable[[TensorIndex, Tensors], Annotator | None]] = {
    ("norm", "block1.convs.0.weight", "block5.projection.weight"): _read_hed,
    ("model0.1.weight", "model2.0.conv_block.1.weight", "model4.1.weight"): _read_lines,
    ("init_block.weight", _RINGS, "dilations.0.conv2_1.weight"): _read_pidinet,
    depth_files.ORIGINAL_SIGNS: _read_depth,
    (depth_files.POSITIONS, "neck.reassemble_stage.layers.0.projection.weight"): _read_depth,
}
