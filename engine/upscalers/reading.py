"""Reading an upscaler's file: which architecture it is, or what else it is."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from backends.base import DType, FileSlice, OperatorSet, Precision
from engine.api.reasons import known_kind
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.errors import EngineError
from engine.families.listing import Listing
from engine.families.recognition import recognise
from engine.file_paths import is_folder
from engine.graphs.operators import GraphBuilder
from engine.upscalers.network import Emit, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.registry import ARCHITECTURES, TITLES
from engine.upscalers.tensors import Tensors

# The dictionaries in which trainers put a network, as spandrel's `canonicalize_state_dict`; the
# averaged weights come first, as the authors of Real-ESRGAN take them.
_WRAPPERS = ("params_ema", "params-ema", "params", "model_state_dict", "model", "net", "generator")
# What PyTorch puts before every name of a network that is trained on several cards or compiled.
_PREFIXES = ("module.", "netG.", "_orig_mod.")
_UPSCALER = "an upscaler"
_FLOATS = frozenset({DType.F64, DType.F32, DType.F16, DType.BF16})


class Upscaler(msgspec.Struct, frozen=True):
    """An upscaler in a file of the user's, and the digest of its content."""

    path: Path
    architecture: str
    digest: str
    network: UpscalerNetwork

    @property
    def name(self) -> str:
        """The name for people, and for the records of pictures: the file's, without its suffix."""
        return self.path.stem


def upscaler_in(index: TensorIndex) -> Upscaler | None:
    """Return the upscaler in a file that was read; None for another kind of file.

    Raises EngineError(CHECKPOINT_MISMATCH) where its sizes contradict each other.
    """
    for tensors in _unwrapped(index):
        architecture = next(
            (architecture for architecture in ARCHITECTURES if architecture.recognises(tensors)),
            None,
        )
        if architecture is not None:
            return _checked(index, tensors, architecture)
    return None


def read_upscaler(path: Path, read: ReadIndex = read_index) -> Upscaler:
    """Read the upscaler in a safetensors or PyTorch file; its numbers are not read.

    Raises EngineError: those of the reader; CHECKPOINT_UNKNOWN_FAMILY for another kind of file, and
    CHECKPOINT_MISMATCH where sizes contradict each other or tensors are missing.
    """
    path = path.absolute()
    if is_folder(path):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence("{path} is a folder, not the file of an upscaler.", path=path.name),
            _choose(),
        )
    index = read(path)
    found = upscaler_in(index)
    if found is None:
        raise _something_else(index)
    return found


def _checked(index: TensorIndex, tensors: Tensors, architecture: UpscalerArchitecture) -> Upscaler:
    """Return the upscaler once all its weights are there in the shapes that its graph asks for."""
    network = architecture.read(tensors)
    weights = used_weights(network, network.emit)
    stored = next(
        (weight.dtype for weight in weights.values() if weight.dtype not in _FLOATS), None
    )
    if stored is not None:
        raise tensors.misfit(sentence("its weights are stored as {dtype}", dtype=stored.value))
    digest = index.digest
    return Upscaler(
        index.path, architecture.title, digest, msgspec.structs.replace(network, weights=weights)
    )


def used_weights(network: UpscalerNetwork, emit: Emit) -> dict[str, FileSlice]:
    """Return those of a network's weights that a graph of it uses."""
    g = GraphBuilder("", network.weights, OperatorSet(opset=20), DType.F32, Precision.F32)
    emit(g)
    unused = frozenset(g.unused())
    return {name: weight for name, weight in network.weights.items() if name not in unused}


def _unwrapped(index: TensorIndex) -> Iterator[Tensors]:
    """Yield the tensors of a file as they are, then those within each wrapper."""
    yield Tensors(index.path, _plain(index.tensors))
    for wrapper in _WRAPPERS:
        inside = _below(index.tensors, f"{wrapper}.")
        if inside:
            yield Tensors(index.path, _plain(inside))


def _plain(tensors: Mapping[str, FileSlice]) -> Mapping[str, FileSlice]:
    """Return tensors without the prefixes that all of their names have."""
    for prefix in _PREFIXES:
        if tensors and all(name.startswith(prefix) for name in tensors):
            tensors = _below(tensors, prefix)
    return tensors


def _below(tensors: Mapping[str, FileSlice], prefix: str) -> dict[str, FileSlice]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _something_else(index: TensorIndex) -> EngineError:
    """Return the error for a file that is no upscaler, or one that is not run."""
    found = recognise(Listing(index.tensors))
    name, kind = index.path.name, found.kind
    if kind is not None and kind.title == _UPSCALER:
        what = sentence("{path} is an upscaler of a kind that is not run.", path=name)
    elif kind is not None:
        what = sentence(
            "{path} is {title}, not an upscaler.", path=name, title=known_kind(kind.title)
        )
    elif found.family is not None:
        family = found.family.title
        what = sentence("{path} is a model of {family}, not an upscaler.", path=name, family=family)
    else:
        what = sentence("{path} is not an upscaler this version knows.", path=name)
    return EngineError(ErrorCode.CHECKPOINT_UNKNOWN_FAMILY, what, _choose())


def _choose() -> Sentence:
    return sentence("Choose an upscaler of one of these: {titles}.", titles=TITLES)
