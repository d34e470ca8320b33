"""The files of a diffusers folder that a baked copy needs beside the networks' own weights."""

from collections.abc import Collection, Iterator
from pathlib import Path

from engine.api.weight_suffixes import NETWORK_SUFFIXES

# Files of weights, in lower case; an index lists the shards of a network.
_WEIGHTS = frozenset({*NETWORK_SUFFIXES, ".onnx_data", ".pb", ".msgpack", ".h5"})
_INDEX, _SHARD = ".index", "-of-"


def files_beside(folder: Path, weights: Collection[Path]) -> Iterator[Path]:
    """Yield the files of a folder to copy; `weights` are the files that its networks are read from.

    Other weights beside these, such as another precision of the same network or a single file of
    the whole checkpoint, are left out: the LoRAs would not be in them. Networks that are not read,
    such as a safety checker, are copied whole.
    """
    read = set(weights)
    places = {folder, *(path.parent for path in read)}
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path in read or hidden or not path.is_file():
            continue
        if path.parent not in places or not _is_of_weights(path, read):
            yield path


def _is_of_weights(path: Path, read: Collection[Path]) -> bool:
    """Tell whether a file holds other weights than those that are read, or lists their shards."""
    if path.suffix.lower() in _WEIGHTS:
        return True
    in_shards = any(file.parent == path.parent and _SHARD in file.name for file in read)
    return _INDEX in path.name and path.suffix == ".json" and not in_shards
