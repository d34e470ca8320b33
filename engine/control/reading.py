"""Reading a control network's file or folder: what it is and for which family, or what else."""

from collections.abc import Mapping
from pathlib import Path

from backends.base import DType, OperatorSet, Precision
from engine.api.reasons import known_kind
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex, read_part
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.control.folders import stated_sizes
from engine.control.keys import canonical_weights, without_prefix
from engine.control.network import ControlForm, ControlNetSizes, ControlNetwork
from engine.control.sizes import control_net_config
from engine.errors import EngineError
from engine.families.finding import recognise
from engine.families.recognition import Listing
from engine.families.shared.unet.sizes import UNetFacts
from engine.file_paths import is_folder
from engine.graphs.control_net import ControlNetConfig, control_net, map_embedding
from engine.graphs.operators import GraphBuilder
from engine.weights.sources import Weight

_HINTS = ("input_hint_block.0.weight", "controlnet_cond_embedding.conv_in.weight")
_OUTPUTS = ("zero_convs.0.0.weight", "controlnet_down_blocks.0.weight")


def read_control_network(path: Path, read: ReadIndex = read_index) -> ControlNetwork:
    """Read the control network in a safetensors or PyTorch file, or in a diffusers folder.

    Its numbers are not read. Raises EngineError: those of the reader; CHECKPOINT_UNKNOWN_FAMILY for
    another kind of file, CHECKPOINT_CORRUPT and CHECKPOINT_MISMATCH where tensors are missing or
    contradict each other.
    """
    path = path.absolute()
    if is_folder(path):
        part = read_part(path, read)
        if part is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
                sentence(
                    "The folder {path} is not a control network: it has no config.json.",
                    path=path.name,
                ),
                _choose(),
            )
        found = _found(part.index, path)
        return stated_sizes(found, part)
    return _found(read(path), path)


def _found(index: TensorIndex, path: Path) -> ControlNetwork:
    tensors = without_prefix(index.tensors)
    if not any(name in tensors for name in _HINTS) or not any(name in tensors for name in _OUTPUTS):
        raise _something_else(index)
    weights = canonical_weights(tensors, index.path).weights
    config = control_net_config(weights, UNetFacts(heads=None), index.path)
    check_complete(config, weights)
    form = ControlForm.UNION if config.union else ControlForm.CONTROL_NET
    sizes = ControlNetSizes(config)
    return ControlNetwork(path, form, _family(config), index.digest, weights, sizes)


def check_complete(config: ControlNetConfig, weights: Mapping[str, Weight]) -> None:
    """Require all weights in the shapes that the graphs ask for.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    for emit in (map_embedding, control_net):
        g = GraphBuilder("ControlNet", weights, OperatorSet(opset=20), DType.F32, Precision.F32)
        emit(g, config)


def _family(config: ControlNetConfig) -> str:
    """Return the family by what its UNets alone have.

    SD 1 projects by convolution, SDXL adds the picture's size to the timestep.
    """
    if not config.encoder.linear_projection:
        return "sd1"
    return "sdxl" if config.encoder.added_width else "sd2"


def _something_else(index: TensorIndex) -> EngineError:
    """Return the error for a file that is no control network, or one that is not run."""
    found, name = recognise(Listing(index.tensors)), index.path.name
    if found.kind is not None and "ControlNet" in found.kind.title:
        what = sentence("{path} is a ControlNet of a kind that is not run.", path=name)
    elif found.kind is not None:
        title = known_kind(found.kind.title)
        what = sentence("{path} is {title}, not a control network.", path=name, title=title)
    elif found.family is not None:
        family = found.family.title
        what = sentence(
            "{path} is a model of {family}, not a control network.", path=name, family=family
        )
    else:
        what = sentence("{path} is not a control network this version knows.", path=name)
    return EngineError(ErrorCode.CHECKPOINT_UNKNOWN_FAMILY, what, _choose())


def _choose() -> Sentence:
    return sentence("Choose a ControlNet for the model's family.")
