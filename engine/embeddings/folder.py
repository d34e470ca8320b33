"""The files of folders that may be embeddings, in a fixed order."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from engine.embeddings.file import PICTURE_SUFFIXES, WEIGHT_SUFFIXES, name_of
from engine.embeddings.pictures import name_in_picture
from engine.file_paths import is_folder
from engine.folders import MISSING, Folder, is_settled, models_of_tool, modified_of, walk

# The folders below a folder of models where tools keep embeddings: A1111 (beside its `models`) and
# ComfyUI, SwarmUI, Easy Diffusion, InvokeAI.
FOLDER_NAMES = ("embeddings", "Embeddings", "Embedding", "embedding", "textual_inversion")
_MODEL_FOLDERS = frozenset({"models", "stable-diffusion", "checkpoints"})
_PREVIEW = ".preview"
_MOST_FILES = 20_000
# So long the listing of a folder that has just changed is true nevertheless: a text that is checked
# asks for each of its words.
_UNSETTLED_LISTING_S = 1.0

# The modification times of folders, in ns, by which a change shows.
Times = tuple[tuple[Path, int], ...]


class EmbeddingFile(msgspec.Struct, frozen=True):
    """A file, its name as an embedding, and its path below its folder, with `/`, without suffix."""

    path: Path
    name: str
    below: str

    @property
    def spellings(self) -> tuple[str, ...]:
        """The texts that ComfyUI's `embedding:` may be followed by, to mean this file."""
        return (self.below, self.below + self.path.suffix, self.path.name, self.name)


class Listing(msgspec.Struct, frozen=True):
    """The files of some folders, and the folders' times when they were listed.

    `until` is the moment of `time.monotonic` from which the listing of a folder that had just
    changed is no longer true; None where all had been left alone for a while.
    """

    times: Times
    files: tuple[EmbeddingFile, ...]
    until: float | None = None

    @property
    def is_current(self) -> bool:
        """True while no folder has gained, lost or renamed a file, as far as folders tell.

        On FAT and exFAT Windows leaves a folder's time as it is when a file is added.
        """
        if self.until is not None and time.monotonic() > self.until:
            return False
        return times_of(folder for folder, _ in self.times) == self.times

    @property
    def looked_through(self) -> tuple[Path, ...]:
        """The folders that are there, with all below them."""
        return tuple(folder for folder, modified in self.times if modified != MISSING)


def usual_folders(models: Path | None, named: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders that the user names, then those where tools keep embeddings.

    `models` is the folder of checkpoints. A named folder may also be that of a tool, with folders
    of embeddings in it. None of the folders need exist.
    """
    found = [folder for path in named for folder in folders_of_tools([path]) or (path,)]
    if models is not None:
        found += [models / name for name in FOLDER_NAMES]
        if models.name.lower() in _MODEL_FOLDERS:
            found += [models.parent / name for name in FOLDER_NAMES]
        if models.parent.name.lower() in _MODEL_FOLDERS:
            found.append(models.parent.parent / FOLDER_NAMES[0])
    return tuple(dict.fromkeys(found))


def folders_of_tools(tools: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders of embeddings that are in the folders of tools, or in their models'."""
    above = (place for folder in tools for place in (folder, models_of_tool(folder)) if place)
    below = (place / name for place in above for name in FOLDER_NAMES)
    return tuple(path for path in below if is_folder(path))


def list_folders(folders: Iterable[Path]) -> Listing:
    """List folders and their subfolders; a folder that is reached twice is listed once."""
    roots, now_ns = tuple(folders), time.time_ns()
    times = dict(times_of(roots))
    files: list[EmbeddingFile] = []
    for folder in walk(roots):
        if len(files) > _MOST_FILES:
            break
        times[folder.path] = folder.modified_ns
        files += _files_in(folder)
    settled = all(is_settled(modified, now_ns) for modified in times.values())
    until = None if settled else time.monotonic() + _UNSETTLED_LISTING_S
    return Listing(tuple(times.items()), tuple(files), until)


def times_of(folders: Iterable[Path]) -> Times:
    """Return the folders with their modification times."""
    return tuple((folder, modified_of(folder)) for folder in folders)


def _files_in(folder: Folder) -> Iterator[EmbeddingFile]:
    """Yield a folder's embeddings: files of tensors in ComfyUI's order of suffixes, then pictures.

    A picture beside a file of the same name is the file's preview.
    """
    paths = [folder.path / entry.name for entry in folder.entries]
    stems = {path.stem for path in paths if path.suffix.lower() in WEIGHT_SUFFIXES}
    for wanted in (*WEIGHT_SUFFIXES, *PICTURE_SUFFIXES):
        for path in paths:
            if path.suffix.lower() != wanted or not _has_content(path):
                continue
            name: str | None = name_of(path)
            if wanted in PICTURE_SUFFIXES:
                is_preview = path.stem in stems or path.stem.lower().endswith(_PREVIEW)
                name = None if is_preview else name_in_picture(path)
            if name:
                below = path.relative_to(folder.root).with_suffix("").as_posix()
                yield EmbeddingFile(path, name, below)


def _has_content(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False
