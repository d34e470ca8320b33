"""Reading a control network's file or folder: what it is and for which family, or what else."""

from pathlib import Path

from engine.api.reasons import known_kind
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex, read_part
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.control.adapter_files import read_adapter
from engine.control.control_net_files import read_control_net
from engine.control.flux_net_files import read_flux_net
from engine.control.folders import with_settings
from engine.control.lllite_files import read_lllite
from engine.control.network import ControlNetwork
from engine.control.sd3_net_files import read_sd3_net, with_sd3_settings
from engine.errors import EngineError
from engine.families.listing import Listing
from engine.families.recognition import recognise
from engine.file_paths import is_folder


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
        return with_sd3_settings(with_settings(_found(part.index, path), part), part)
    return _found(read(path), path)


def _found(index: TensorIndex, path: Path) -> ControlNetwork:
    for read in (read_control_net, read_flux_net, read_sd3_net, read_adapter, read_lllite):
        network = read(index, path)
        if network is not None:
            return network
    raise _something_else(index)


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
