"""Finds weights below a folder: links are followed, and no folder is entered twice.

Listing asks the disk once for each folder, and once more for each link, but not for each file: on a
network disk every answer takes as long as reading a page.
"""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

# Suffixes of weights, in lower case; `.sft` is a safetensors file's, too.
SAFETENSORS_SUFFIXES = frozenset({".safetensors", ".sft"})
# PyTorch's suffixes; .pt and .bin files are usually not checkpoints.
CHECKPOINT_SUFFIXES = SAFETENSORS_SUFFIXES | {".ckpt"}
# Folders of other programs' layouts whose files are not checkpoints, in lower case.
ADAPTER_FOLDERS = frozenset(
    {
        "lora", "loras", "lycoris",
        "embedding", "embeddings", "textual_inversion",
        "hypernetwork", "hypernetworks",
    }
)  # fmt: skip
# The file that marks a diffusers folder.
PIPELINE_FILE = "model_index.json"


def weights_below(
    folder: Path,
    suffixes: Collection[str],
    *,
    inside_checkpoints: bool = False,
    but: Collection[str] = (),
) -> Iterator[Path]:
    """Yield files with these suffixes and diffusers folders, by name within each folder.

    Files inside a diffusers folder are left out, unless `inside_checkpoints`, and folders below
    whose names in lower case are in `but`. A folder that cannot be read counts as empty.
    """
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        entries = _entries(current, entered)
        if any(entry.name == PIPELINE_FILE for entry in entries):
            yield current
            deeper = inside_checkpoints
        else:
            deeper = True
        yield from (current / entry.name for entry in entries if _is_weights(entry, suffixes))
        if deeper:
            wanted = (entry for entry in entries if entry.name.lower() not in but)
            folders = [current / entry.name for entry in wanted if _is(entry.is_dir)]
            waiting.extend(reversed(folders))


def weights_in(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Yield the files with these suffixes directly in a folder, by name."""
    for entry in _entries(folder, set()):
        if _is_weights(entry, suffixes):
            yield folder / entry.name


def has_suffix(name: str, suffixes: Collection[str]) -> bool:
    """True if a file's name has one of the suffixes, in upper or lower case."""
    return os.path.splitext(name)[1].lower() in suffixes  # noqa: PTH122 (a path costs ten times it)


def _entries(folder: Path, entered: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    try:
        facts = folder.stat()
        identity = (facts.st_dev, facts.st_ino)
        if identity in entered:
            return []
        entered.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def _is_weights(entry: os.DirEntry[str], suffixes: Collection[str]) -> bool:
    return has_suffix(entry.name, suffixes) and _is(entry.is_file)


def _is(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError:
        return False
