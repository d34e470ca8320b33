"""Finds LoRA files by the names and hashes that requests, prompts and other tools' pictures have.

A name is, in this order: a path; the end of a path below one of the folders, with or without its
suffix; the name in the file's metadata (A1111's alias, `ss_output_name`). Upper and lower case
count only where they tell files apart. Of several files the first is taken: folders in their order,
within a folder files that lie less deep, then the alphabet. A file with the hash that is asked for
comes before all others.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine.file_paths import is_file, is_folder
from engine.folders import SAFETENSORS_SUFFIXES, weights_below
from engine.lora.file_names import NO_NAMES, FileNames, read_names
from engine.lora.files_below import LORA_SUFFIXES, ListedLora, list_below, list_one
from engine.lora.known_loras import KnownLoras

# The usual folders below a folder of models: A1111's, ComfyUI's, Easy Diffusion's, and that of
# A1111's extension for LyCORIS.
_USUAL = ("Lora", "loras", "lora", "LyCORIS")
# The folders of models below a tool's own folder.
_MODELS = ("", "models")
# The most files that are looked at.
_MOST_FILES = 50_000
# diffusers saves a LoRA under this name in a folder of its own, whose name is the LoRA's.
_DIFFUSERS_STEM = "pytorch_lora_weights"
# A name followed by a hash in brackets, as sd-webui-additional-networks wrote it.
_WITH_HASH = re.compile(r"(.+?)\s*\(([0-9a-fA-F]{8,64})\)")
_HASH = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was looked for. `others` are files that the same name could have meant.

    `differs`: the file's known hashes are other ones than the hash that was asked for.
    """

    path: Path
    others: tuple[Path, ...] = ()
    differs: bool = False


def lora_folders(models: Path | None, named: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the folders to look in: the usual ones below `models`, then those that are named.

    A named folder may be that of a tool: then the usual folders below it are meant.
    """
    found: list[Path] = []
    for place, folder in enumerate((models, *named)):
        if folder is None:
            continue
        usual = [
            path for below in _MODELS for name in _USUAL if is_folder(path := folder / below / name)
        ]
        # The folder of models also holds checkpoints.
        found += usual or ([folder] if place else [])
    return tuple(dict.fromkeys(path.resolve() for path in found))


@dataclass(frozen=True, slots=True)
class _Listed:
    """A file and its path below the folder in which it was found, without suffix and with `/`."""

    path: Path
    name: str

    @property
    def folded(self) -> str:
        return self.name.casefold()


@dataclass(slots=True)
class LoraFolders:
    """The folders in which LoRAs are looked for: see `lora_folders`."""

    models: Path | None = None
    named: tuple[Path, ...] = ()
    known: KnownLoras = field(default_factory=KnownLoras)
    # Folders that the user has chosen since.
    chosen: tuple[Path, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are there now, in the order in which files are taken."""
        return lora_folders(self.models, (*self.named, *self.chosen))

    def look(self) -> "LoraLookup":
        """Return a lookup in the files as they are now; they are listed once it is needed."""
        return LoraLookup(self.folders, self.known)


class LoraLookup:
    """Finds files in folders whose files are listed once. No function raises."""

    def __init__(self, folders: Iterable[Path] = (), known: KnownLoras | None = None) -> None:
        self.folders = tuple(folders)
        self._names = _Names(self.folders, known or KnownLoras())
        self._listed: list[_Listed] | None = None

    def find(self, file: str, hash_digits: str | None = None) -> FoundFile | None:
        """Return the file that a path or name means, or that has the hash; None without any."""
        path, wanted = Path(file), _plain_hash(hash_digits)
        if path.is_absolute() and is_file(path):
            differs = wanted is not None and self._names.alone(path).has(wanted) is False
            return FoundFile(path, differs=differs)
        return self.find_named(file, hash_digits)

    def find_named(self, name: str, hash_digits: str | None = None) -> FoundFile | None:
        """Return the file in the folders as `find` does; a name in a prompt is never a path.

        Prompts come from strangers, too: opening a path on another machine would tell it of this.
        """
        wanted = _plain_hash(hash_digits)
        named = self._named(name)
        if not named and (found := _WITH_HASH.fullmatch(name.strip())):
            named, wanted = self._named(found[1]), wanted or found[2].lower()
        if wanted is None:
            return _first_of(named) or self._by_hash(_plain_hash(name))
        return self._with_hash(named, wanted)

    def _with_hash(self, named: list[_Listed], wanted: str) -> FoundFile | None:
        """Return the file with a hash among those of a name, else among all."""
        matches = [(one, self._names.of(one.path).has(wanted)) for one in named]
        right = next((one for one, has in matches if has), None)
        if right is not None:
            return FoundFile(right.path)
        # A file whose hash is not known may well be the one.
        unknown = [one for one, has in matches if has is None]
        found = self._by_hash(wanted) or _first_of(unknown)
        if found is not None or not named:
            return found
        first = _first_of(named)
        return first and FoundFile(first.path, first.others, differs=True)

    def _named(self, file: str) -> list[_Listed]:
        """Return the files that a name may mean, the best first."""
        parts = [part for part in file.strip().replace("\\", "/").split("/") if part]
        if not parts:
            return []
        parts[-1] = _without_suffix(parts[-1])
        for first in range(len(parts)):
            if found := self._ending_with("/".join(parts[first:])):
                return found
        return self._by_alias(parts[-1]) if len(parts) == 1 else []

    def _ending_with(self, tail: str) -> list[_Listed]:
        folded = tail.casefold()
        near = [one for one in self._files() if _ends(one.folded, folded)]
        return [one for one in near if _ends(one.name, tail)] or near

    def _by_alias(self, name: str) -> list[_Listed]:
        folded = name.casefold()
        near = [one for one in self._files() if self._alias(one).casefold() == folded]
        return [one for one in near if self._alias(one) == name] or near

    def _by_hash(self, wanted: str | None) -> FoundFile | None:
        if wanted is None:
            return None
        found = (one for one in self._files() if self._names.of(one.path).has(wanted))
        first = next(found, None)
        return None if first is None else FoundFile(first.path)

    def _alias(self, one: _Listed) -> str:
        return self._names.of(one.path).alias

    def _files(self) -> list[_Listed]:
        if self._listed is None:
            self._listed = [one for folder in self.folders for one in _below(folder)]
            del self._listed[_MOST_FILES:]
        return self._listed


class _Names:
    """The names of files below folders, read together: so the cache is written once."""

    def __init__(self, folders: Iterable[Path], known: KnownLoras) -> None:
        self._folders, self._known = tuple(folders), known
        self._listed: dict[str, ListedLora] | None = None
        # Those of files that were just written, too.
        self._read: dict[str, FileNames] = {}

    def of(self, path: Path) -> FileNames:
        """Return the names of a file in the folders; no names if it is gone."""
        if self._listed is None:
            self._known.refresh()
            below = list_below(self._folders)
            self._listed = {one.path: one for folder in below for one in folder.files}
        listed = self._listed.get(str(path)) or list_one(path)
        if listed is not None and self._found(listed) is None:
            self._read_names((listed, *self._listed.values()))
        return self._found(listed) or NO_NAMES

    def alone(self, path: Path) -> FileNames:
        """Return the names of a file wherever it lies, and read no other file."""
        listed = list_one(path)
        if listed is not None and self._found(listed) is None:
            self._read_names((listed,))
        return self._found(listed) or NO_NAMES

    def _found(self, listed: ListedLora | None) -> FileNames | None:
        if listed is None:
            return None
        return self._read.get(listed.path) or self._known.of(listed).names

    def _read_names(self, files: Iterable[ListedLora]) -> None:
        """Read the names of files whose names are not known."""
        for one in files:
            if self._found(one) is None:
                self._read[one.path] = read_names(Path(one.path))
                self._known.note(one, names=self._read[one.path])
        self._known.save()


def _below(folder: Path) -> list[_Listed]:
    """Return the files below a folder in the order in which they are taken."""
    files = [_Listed(path, _name(path, folder)) for path in weights_below(folder, LORA_SUFFIXES)]
    files.sort(key=lambda one: (one.name.count("/"), one.folded, _rank(one.path)))
    return files


def _name(path: Path, folder: Path) -> str:
    below = path.relative_to(folder).with_suffix("")
    if below.name == _DIFFUSERS_STEM and len(below.parts) > 1:
        below = below.parent
    return below.as_posix()


def _rank(path: Path) -> int:
    return 0 if path.suffix.lower() in SAFETENSORS_SUFFIXES else 1


def _ends(name: str, tail: str) -> bool:
    return name == tail or name.endswith(f"/{tail}")


def _without_suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and f"{dot}{suffix}".lower() in LORA_SUFFIXES else name


def _first_of(files: list[_Listed]) -> FoundFile | None:
    if not files:
        return None
    first, *others = (one.path for one in files)
    return FoundFile(first, tuple(others))


def _plain_hash(digits: str | None) -> str | None:
    plain = (digits or "").strip().casefold().removeprefix("0x")
    return plain if _HASH.fullmatch(plain) else None
