"""Weights below a folder: links are followed, and no folder is entered twice.

Listing asks the disk once for each folder, and once more for each link, not for each file: on a
shared disk an answer takes as long as reading a page.
"""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

# How files of weights end, in small letters; `.sft` is a safetensors file's, too.
SAFETENSORS_SUFFIXES = frozenset({".safetensors", ".sft"})
# PyTorch's; .pt and .bin files are other things more often than checkpoints.
CHECKPOINT_SUFFIXES = SAFETENSORS_SUFFIXES | {".ckpt"}
# What tells a diffusers folder.
PIPELINE_FILE = "model_index.json"


def weights_below(
    folder: Path, suffixes: Collection[str], *, inside_checkpoints: bool = False
) -> Iterator[Path]:
    """Files with these suffixes and diffusers folders, in each folder by name, as they are found.

    What is in the folders of a diffusers folder is its own, unless `inside_checkpoints`. A folder
    that cannot be read is as if it were empty.
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
            folders = [current / entry.name for entry in entries if _is(entry.is_dir)]
            waiting.extend(reversed(folders))


def weights_in(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """The files with these suffixes directly in a folder, by name."""
    for entry in _entries(folder, set()):
        if _is_weights(entry, suffixes):
            yield folder / entry.name


def has_suffix(name: str, suffixes: Collection[str]) -> bool:
    """Whether a file's name ends so, in large or small letters."""
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
