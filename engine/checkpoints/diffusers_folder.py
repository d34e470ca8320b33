"""Diffusers folders: one subfolder per component, each with its configuration and its weights.

Names inside the folder's JSON never become paths, except the shards of a split file, which must be
plain names beside their list. Links are followed: the Hugging Face cache is made of them.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_configs import (
    ConfigT,
    PipelineFile,
    SchedulerFile,
    read_config,
)
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError

# Reads the header of a file of tensors: `read_index`, or a function that caches its results.
ReadIndex = Callable[[Path], TensorIndex]

MAX_SHARDS = 100
_CONFIG = "config.json"
# The subfolders that hold a denoiser, as diffusers names them.
_DENOISERS = ("unet", "transformer")
# In the order they are preferred: full precision before half.
_VARIANTS = ("", ".fp32", ".fp16", ".bf16")
_DIFFUSERS_STEM = "diffusion_pytorch_model"
_TRANSFORMERS_STEM = "model"


class FolderPart(msgspec.Struct, frozen=True):
    """A subfolder with a network: its tensors, and its configuration on demand."""

    path: Path
    index: TensorIndex

    def config(self, kind: type[ConfigT]) -> ConfigT:
        """Return the part's `config.json` as `kind`. Raises EngineError(CHECKPOINT_CORRUPT)."""
        return read_config(self.path / _CONFIG, kind)


class DiffusersFolder(msgspec.Struct, frozen=True):
    """A folder's parts by the names of their subfolders, and the class of its pipeline.

    `pipeline` is empty if the folder has no `model_index.json`.
    """

    path: Path
    pipeline: str
    parts: Mapping[str, FolderPart]

    @property
    def scheduler(self) -> SchedulerFile | None:
        """The scheduler's configuration; None if the folder has none."""
        path = self.path / "scheduler" / "scheduler_config.json"
        return read_config(path, SchedulerFile) if path.is_file() else None


class _ShardList(msgspec.Struct, frozen=True):
    """The content of `*.safetensors.index.json`: the file of each tensor, by the tensor's name."""

    weight_map: Mapping[str, str]


def is_checkpoint_folder(path: Path) -> bool:
    """Return True if a folder is a diffusers checkpoint, or at least has its denoiser."""
    if (path / "model_index.json").is_file():
        return True
    return any((path / denoiser / _CONFIG).is_file() for denoiser in _DENOISERS)


def read_folder(
    path: Path, subfolders: Collection[str], read: ReadIndex = read_index
) -> DiffusersFolder:
    """Return a diffusers folder with those of `subfolders` that hold a network.

    Raises EngineError.
    """
    pipeline = path / "model_index.json"
    if not is_checkpoint_folder(path):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "The folder {path} is not a diffusers model: it has no model_index.json.",
                path=path.name,
            ),
            sentence(
                "Choose a .safetensors file, or the folder that holds unet, vae and text_encoder."
            ),
        )
    class_name = read_config(pipeline, PipelineFile).class_name if pipeline.is_file() else ""
    found = ((name, read_part(path / name, read)) for name in subfolders)
    return DiffusersFolder(path, class_name, {name: part for name, part in found if part})


def read_part(folder: Path, read: ReadIndex = read_index) -> FolderPart | None:
    """Return the network in a subfolder; None if it has no `config.json`. Raises EngineError."""
    if not (folder / _CONFIG).is_file():
        return None
    return FolderPart(folder, _weights(folder, read))


def find_tokenizer(folder: Path) -> Path | None:
    """Return `folder` if it has a CLIP tokenizer's two files, or transformers 5's one, or None."""
    whole = all((folder / name).is_file() for name in ("vocab.json", "merges.txt"))
    return folder if whole or (folder / "tokenizer.json").is_file() else None


def _weights(folder: Path, read: ReadIndex) -> TensorIndex:
    for stem in (_DIFFUSERS_STEM, _TRANSFORMERS_STEM):
        for variant in _VARIANTS:
            whole = folder / f"{stem}{variant}.safetensors"
            if whole.is_file():
                return read(whole)
            shards = folder / f"{stem}.safetensors.index{variant}.json"
            if shards.is_file():
                return _sharded(shards, read)
    raise _without_weights(folder)


def _without_weights(folder: Path) -> EngineError:
    is_of_diffusers = bool(read_config(folder / _CONFIG, PipelineFile).class_name)
    stem = _DIFFUSERS_STEM if is_of_diffusers else _TRANSFORMERS_STEM
    names = (f"{stem}.bin", "pytorch_model.bin")
    other = next((name for name in names if (folder / name).is_file()), "")
    has = f"only {other}" if other else "no weights"
    return EngineError(
        ErrorCode.CHECKPOINT_INCOMPLETE,
        sentence(
            "{parent}/{folder} has {has}; {stem}.safetensors is needed.",
            parent=folder.parent.name,
            folder=folder.name,
            has=has,
            stem=stem,
        ),
        sentence("Download the .safetensors files of this folder."),
    )


def _sharded(path: Path, read: ReadIndex) -> TensorIndex:
    """Return the shards in a list as one index; each tensor must be in the shard the list names."""
    places = read_config(path, _ShardList).weight_map
    names = sorted(set(places.values()))
    if len(names) > MAX_SHARDS or any(not _is_plain_name(name) for name in names):
        raise EngineError(
            ErrorCode.CHECKPOINT_CORRUPT,
            sentence("{path} names files that are not beside it.", path=path.name),
            sentence("Download the folder again."),
        )
    shards = {name: read(path.parent / name) for name in names}
    tensors: dict[str, FileSlice] = {}
    for key, name in places.items():
        found = shards[name].tensors.get(key)
        if found is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                sentence(
                    "{name} lacks {key!r}, which {path} says it holds.",
                    name=name,
                    key=key,
                    path=path.name,
                ),
                sentence("Download the folder again."),
            )
        tensors[key] = found
    digest = combined_digest(*(shards[name].digest for name in names))
    return TensorIndex(path, tensors, {}, digest)


def _is_plain_name(name: str) -> bool:
    return name.endswith(".safetensors") and not any(sign in name for sign in "/\\:\0")
