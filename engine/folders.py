"""Walks through folders, and finds weights: links are followed, and no folder is entered twice.

Listing asks the disk once for each folder, and once more for each link, but not for each file: on a
network disk every answer takes as long as reading a page.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path, PurePath

import msgspec

from engine.api.weight_suffixes import GGUF_SUFFIX, SAFETENSORS_SUFFIXES
from engine.file_paths import is_folder

# Suffixes of checkpoints; other files of PyTorch are opened where somebody names them.
CHECKPOINT_SUFFIXES = frozenset({*SAFETENSORS_SUFFIXES, ".ckpt", GGUF_SUFFIX})
# Folders of other programs' layouts whose files are not checkpoints, in lower case.
ADAPTER_FOLDERS = frozenset(
    {
        "lora", "loras", "lycoris",
        "embedding", "embeddings", "textual_inversion",
        "hypernetwork", "hypernetworks",
    }
)  # fmt: skip
# Folders of parts and of other networks, in ComfyUI's, A1111's and Stability Matrix's names, and in
# SD.Next's and Easy Diffusion's.
PART_FOLDERS = frozenset(
    {
        "vae", "vae_approx", "vae-approx", "vae-taesd", "approxvae",
        "clip", "clip_vision", "clipvision",
        "text_encoder", "text_encoders", "textencoders", "text-encoder", "taesd",
        "controlnet", "t2iadapter", "t2i_adapter", "ipadapter", "style_models", "gligen",
        "upscale_models", "esrgan", "realesrgan", "swinir", "bsrgan", "scunet", "dat", "ldsr",
        "gfpgan", "codeformer", "adetailer", "ultralytics", "sams", "blip", "deepbooru", "karlo",
        "photomaker", "motionmodule", "animatediff_models", "animatediff_motion_lora",
    }
)  # fmt: skip
# The folders of a tool that have its models, with SwarmUI's capital, and its embeddings; its other
# folders have programs.
_MODELS = ("models", "Models")
_EMBEDDINGS = "embeddings"
# The modification time of a folder that cannot be reached.
MISSING = -1
# Times in folders, in nanoseconds, are taken as they are once so much has passed.
_UNSETTLED_NS = 3_000_000_000
# A multiple of this is each time of exFAT, and of FAT with its 2 s.
_COARSE_NS = 10_000_000
# Where a drive has no extended attributes, macOS keeps those of a file beside it, in a file of its
# name after this.
_ATTRIBUTES_PREFIX = "._"
# The file that marks a diffusers folder.
PIPELINE_FILE = "model_index.json"


class Folder(msgspec.Struct, frozen=True):
    """A folder that was walked to from `root`, its time in ns since 1970, and its entries by name.

    Folders that are taken out of the list `below` are not entered, as with `os.walk`.
    """

    path: Path
    root: Path
    modified_ns: int
    entries: list[os.DirEntry[str]]
    below: list[os.DirEntry[str]]


def folders_of_models(models: Path | None, named: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders that are there: that of models, then the named ones.

    Of a tool's folder, which has a folder of models, that one and its `embeddings` are meant.
    """
    found = [models] if models is not None else []
    for folder in named:
        of_tool = models_of_tool(folder)
        found += [folder] if of_tool is None else [of_tool, folder / _EMBEDDINGS]
    return tuple(dict.fromkeys(folder for folder in found if is_folder(folder)))


def models_of_tool(folder: Path) -> Path | None:
    """Return the folder of models in a tool's folder; None for a folder that is no tool's."""
    return next((below for name in _MODELS if is_folder(below := folder / name)), None)


def repository_of(folder: PurePath) -> str:
    """Return the repository's name of a folder in Hugging Face's cache; empty for any other.

    Such a folder is called by its revision: `models--AUTHOR--NAME/snapshots/REVISION`.
    """
    repository = folder.parent.parent.name
    is_cached = folder.parent.name == "snapshots" and repository.startswith("models--")
    return repository.rpartition("--")[2] if is_cached else ""


def walk(roots: Iterable[Path]) -> Iterator[Folder]:
    """Yield folders, each before those below it, which come by name.

    A folder that cannot be read counts as empty, one that is missing is left out.
    """
    entered: set[object] = set()
    for root in roots:
        waiting = [root]
        while waiting:
            path = waiting.pop()
            modified_ns = _enter(path, entered)
            if modified_ns is None:
                continue
            entries = entries_of(path)
            folders = [entry for entry in entries if _is(entry.is_dir)]
            folder = Folder(path, root, modified_ns, entries, folders)
            yield folder
            waiting.extend(path / entry.name for entry in reversed(folder.below))


def entries_of(folder: Path) -> list[os.DirEntry[str]]:
    """Return a folder's entries by name, without attributes; none of one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            own = (entry for entry in entries if not entry.name.startswith(_ATTRIBUTES_PREFIX))
            return sorted(own, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def weights_below(
    folder: Path,
    suffixes: Collection[str],
    *,
    inside_checkpoints: bool = False,
    but: Collection[str] = (),
    times: dict[Path, int] | None = None,
) -> Iterator[Path]:
    """Yield files with these suffixes and diffusers folders, by name within each folder.

    Files inside a diffusers folder are left out, unless `inside_checkpoints`, and folders below
    that are hidden, as programs' caches, or whose names in lower case are in `but`. A folder that
    cannot be read counts as empty. `times` gets the time of each folder, as `Folder` has it.
    """
    for current in walk([folder]):
        if times is not None:
            times[current.path] = current.modified_ns
        is_checkpoint = any(entry.name == PIPELINE_FILE for entry in current.entries)
        if is_checkpoint:
            yield current.path
        yield from _weights(current.path, current.entries, suffixes)
        closed = is_checkpoint and not inside_checkpoints
        current.below[:] = (
            entry
            for entry in current.below
            if not (closed or entry.name.startswith(".") or entry.name.lower() in but)
        )


def weights_in(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Yield the files with these suffixes directly in a folder, by name."""
    yield from _weights(folder, entries_of(folder), suffixes)


def has_suffix(name: str, suffixes: Collection[str]) -> bool:
    """True if a file's name has one of the suffixes, in upper or lower case."""
    return os.path.splitext(name)[1].lower() in suffixes  # noqa: PTH122 (a path costs ten times it)


def _weights(
    folder: Path, entries: Iterable[os.DirEntry[str]], suffixes: Collection[str]
) -> Iterator[Path]:
    for entry in entries:
        if has_suffix(entry.name, suffixes) and _is(entry.is_file):
            yield folder / entry.name


def modified_of(folder: Path) -> int:
    """Return a folder's modification time in ns; `MISSING` for one that cannot be reached."""
    try:
        return folder.stat().st_mtime_ns
    except (OSError, ValueError):
        return MISSING


def is_settled(modified_ns: int, now_ns: int) -> bool:
    """Return False for a time so near that a folder may change again and keep it.

    Its unit is coarse: 2 s on FAT.
    """
    return abs(now_ns - modified_ns) > _UNSETTLED_NS


def may_keep_times(times_ns: Iterable[int]) -> bool:
    """Return True for the times of folders of one drive if that may have FAT or exFAT.

    There Windows leaves a folder's time as it is when a file is added. Other coarse clocks are
    taken for theirs: no file system tells of its kind on all systems.
    """
    return all(modified_ns % _COARSE_NS == 0 for modified_ns in times_ns)


def _enter(folder: Path, entered: set[object]) -> int | None:
    """Note that a folder is entered and return its time; None if it is missing or was entered."""
    try:
        facts = folder.stat()
        # Some network disks number no files.
        identity = (facts.st_dev, facts.st_ino) if facts.st_ino else folder.resolve()
    except (OSError, ValueError):
        return None
    if identity in entered:
        return None
    entered.add(identity)
    return facts.st_mtime_ns


def _is(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError:
        return False
