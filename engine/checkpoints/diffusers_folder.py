"""Diffusers folders: one subfolder per component, each with its configuration and its weights.

Names inside the folder's JSON never become paths, except the shards of a split file, which must be
plain names beside their list. Links are followed: the Hugging Face cache is made of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

import msgspec

from backends.base import FileSlice
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_configs import (
    ClipTextFile,
    ConfigT,
    PipelineFile,
    SchedulerFile,
    UNetFile,
    VaeFile,
    read_config,
)
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError

# How a file of tensors is read: `read_index`, or a way that remembers.
ReadIndex = Callable[[Path], TensorIndex]

MAX_SHARDS = 100
# In the order they are preferred: full precision before half.
_VARIANTS = ("", ".fp32", ".fp16", ".bf16")
_DIFFUSERS_STEM = "diffusion_pytorch_model"
_TRANSFORMERS_STEM = "model"


@dataclass(frozen=True, slots=True)
class FolderPart(Generic[ConfigT]):
    """One component's subfolder."""

    config: ConfigT
    index: TensorIndex


@dataclass(frozen=True, slots=True)
class DiffusersFolder:
    """What a folder holds; None where a component is not there."""

    path: Path
    pipeline: str
    unet: FolderPart[UNetFile] | None
    vae: FolderPart[VaeFile] | None
    text_encoder: FolderPart[ClipTextFile] | None
    text_encoder_2: FolderPart[ClipTextFile] | None
    scheduler: SchedulerFile | None
    tokenizer: Path | None


class _ShardList(msgspec.Struct, frozen=True):
    """`*.safetensors.index.json`: which file holds which tensor."""

    weight_map: Mapping[str, str]


def is_checkpoint_folder(path: Path) -> bool:
    """Whether a folder is a diffusers checkpoint, or at least holds a UNet as one would."""
    return (path / "model_index.json").is_file() or (path / "unet" / "config.json").is_file()


def read_folder(path: Path, read: ReadIndex = read_index) -> DiffusersFolder:
    """Everything a diffusers folder says about itself. Raises EngineError."""
    pipeline = path / "model_index.json"
    if not is_checkpoint_folder(path):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            f"The folder {path.name} is not a diffusers model: it has no model_index.json.",
            "Choose a .safetensors file, or the folder that holds unet, vae and text_encoder.",
        )
    return DiffusersFolder(
        path=path,
        pipeline=read_config(pipeline, PipelineFile).class_name if pipeline.is_file() else "",
        unet=read_unet(path / "unet", read),
        vae=read_vae(path / "vae", read),
        text_encoder=read_text_encoder(path / "text_encoder", read),
        text_encoder_2=read_text_encoder(path / "text_encoder_2", read),
        scheduler=read_scheduler(path / "scheduler"),
        # The refiner has but the second, which differs from the first in how it fills up.
        tokenizer=find_tokenizer(path / "tokenizer") or find_tokenizer(path / "tokenizer_2"),
    )


def read_unet(folder: Path, read: ReadIndex = read_index) -> FolderPart[UNetFile] | None:
    """The UNet in `folder`; None where there is no such folder."""
    return _part(folder, UNetFile, _DIFFUSERS_STEM, read)


def read_vae(folder: Path, read: ReadIndex = read_index) -> FolderPart[VaeFile] | None:
    """The autoencoder in `folder`; None where there is no such folder."""
    return _part(folder, VaeFile, _DIFFUSERS_STEM, read)


def read_text_encoder(
    folder: Path, read: ReadIndex = read_index
) -> FolderPart[ClipTextFile] | None:
    """The text encoder in `folder`; None where there is no such folder."""
    return _part(folder, ClipTextFile, _TRANSFORMERS_STEM, read)


def find_tokenizer(folder: Path) -> Path | None:
    """`folder`, if it holds the two files of a CLIP tokenizer, or the one of transformers 5."""
    whole = all((folder / name).is_file() for name in ("vocab.json", "merges.txt"))
    return folder if whole or (folder / "tokenizer.json").is_file() else None


def read_scheduler(folder: Path) -> SchedulerFile | None:
    """What the scheduler in `folder` says of the training; None where there is none."""
    path = folder / "scheduler_config.json"
    return read_config(path, SchedulerFile) if path.is_file() else None


def _part(
    folder: Path, kind: type[ConfigT], stem: str, read: ReadIndex
) -> FolderPart[ConfigT] | None:
    config = folder / "config.json"
    if not config.is_file():
        return None
    return FolderPart(read_config(config, kind), _weights(folder, stem, read))


def _weights(folder: Path, stem: str, read: ReadIndex) -> TensorIndex:
    for variant in _VARIANTS:
        whole = folder / f"{stem}{variant}.safetensors"
        if whole.is_file():
            return read(whole)
        shards = folder / f"{stem}.safetensors.index{variant}.json"
        if shards.is_file():
            return _sharded(shards, read)
    other = next(
        (name for name in (f"{stem}.bin", "pytorch_model.bin") if (folder / name).is_file()), ""
    )
    has = f"only {other}" if other else "no weights"
    raise EngineError(
        ErrorCode.CHECKPOINT_INCOMPLETE,
        f"{folder.parent.name}/{folder.name} has {has}; {stem}.safetensors is needed.",
        "Download the .safetensors files of this folder.",
    )


def _sharded(path: Path, read: ReadIndex) -> TensorIndex:
    """The shards that a list names, as one index; each tensor must be where the list says."""
    places = read_config(path, _ShardList).weight_map
    names = sorted(set(places.values()))
    if len(names) > MAX_SHARDS or any(not _is_plain_name(name) for name in names):
        raise EngineError(
            ErrorCode.CHECKPOINT_CORRUPT,
            f"{path.name} names files that are not beside it.",
            "Download the folder again.",
        )
    shards = {name: read(path.parent / name) for name in names}
    tensors: dict[str, FileSlice] = {}
    for key, name in places.items():
        found = shards[name].tensors.get(key)
        if found is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                f"{name} lacks {key!r}, which {path.name} says it holds.",
                "Download the folder again.",
            )
        tensors[key] = found
    digest = combined_digest(*(shards[name].digest for name in names))
    return TensorIndex(path, tensors, {}, digest)


def _is_plain_name(name: str) -> bool:
    return name.endswith(".safetensors") and not any(sign in name for sign in "/\\:\0")
