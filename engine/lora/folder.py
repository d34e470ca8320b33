"""Finds LoRA files by the names and hashes that requests, prompts and other tools' pictures have.

A name is a path, or what `engine.api.lora_names` says. Of several files the first is taken: folders
in their order, within a folder by `order_in_folder`. A file with the hash that is asked for comes
before all others; where neither name nor hash is known, files are hashed to find it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from engine.api.lora_names import LORA_SUFFIXES, NamedFiles, order_in_folder
from engine.file_paths import is_file, is_folder
from engine.folders import models_of_tool, weights_below
from engine.lora.listed_facts import ListedFacts
from engine.lora.names_below import NamesBelow, Report, report_nothing
from engine.lora.preset_files import PresetTexts, preset_texts

# The usual folders below a folder of models: A1111's, ComfyUI's, Easy Diffusion's, and that of
# A1111's extension for LyCORIS.
_USUAL = ("Lora", "loras", "lora", "LyCORIS")
# The most files that are looked at.
_MOST_FILES = 50_000
# A name followed by a hash in brackets, as sd-webui-additional-networks wrote it.
_WITH_HASH = re.compile(r"(.+?)\s*\(([0-9a-fA-F]{8,64})\)")
_HASH = re.compile(r"[0-9a-f]{8,64}")


class FoundFile(msgspec.Struct, frozen=True):
    """A file that was looked for. `others` are files that the same name could have meant.

    `differs`: the file's known hashes are other ones than the hash that was asked for. `hashed` is
    the number of files that had to be hashed to find it.
    """

    path: Path
    others: tuple[Path, ...] = ()
    differs: bool = False
    hashed: int = 0


def lora_folders(models: Path | None, named: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the folders to look in: the usual ones below `models`, then those that are named.

    A named folder may be that of a tool: then the usual folders below it are meant, or all of its
    models where it has none of these, as InvokeAI.
    """
    found: list[Path] = []
    for place, folder in enumerate((models, *named)):
        if folder is None:
            continue
        of_tool = models_of_tool(folder)
        above = (folder,) if of_tool is None else (folder, of_tool)
        usual = [path for below in above for name in _USUAL if is_folder(path := below / name)]
        # The folder of models also holds checkpoints.
        found += usual or ([of_tool or folder] if place else [])
    return tuple(dict.fromkeys(path.resolve() for path in found))


class _Listed(msgspec.Struct, frozen=True):
    """A file and its path below the folder in which it was found, without suffix and with `/`."""

    path: Path
    name: str


class LoraFolders(msgspec.Struct):
    """The folders in which LoRAs are looked for: see `lora_folders`."""

    models: Path | None = None
    named: tuple[Path, ...] = ()
    known: ListedFacts = msgspec.field(default_factory=ListedFacts)
    # Folders that the user has chosen since.
    chosen: tuple[Path, ...] = ()

    @property
    def of_user(self) -> tuple[Path, ...]:
        """The folders that the user named or chose, each perhaps that of a tool."""
        return *self.named, *self.chosen

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are there now, in the order in which files are taken."""
        return lora_folders(self.models, self.of_user)

    def look(self, report: Report = report_nothing) -> "LoraLookup":
        """Return a lookup in the files as they are now; they are listed once it is needed.

        `report` is called while files are hashed, and may raise to stop.
        """
        return LoraLookup(self.folders, self.known, report)


class LoraLookup:
    """Finds files in folders whose files are listed once. No function raises but `report`."""

    def __init__(
        self,
        folders: Iterable[Path] = (),
        known: ListedFacts | None = None,
        report: Report = report_nothing,
    ) -> None:
        self.folders = tuple(folders)
        self._names = NamesBelow(self.folders, known or ListedFacts(), report)
        # Files that were found by new hashes, under whose paths they are asked for again.
        self._hashed: dict[Path, int] = {}

    @cached_property
    def preset_texts(self) -> PresetTexts:
        """The texts of a person's own presets of block weights, read once."""
        return preset_texts(self.folders)

    @property
    def unhashed(self) -> int:
        """The number of files that would have taken too long to hash."""
        return self._names.unhashed

    def find(self, file: str, hash_digits: str | None = None) -> FoundFile | None:
        """Return the file that a path or name means, or that has the hash; None without any."""
        path, wanted = Path(file), _plain_hash(hash_digits)
        if path.is_absolute() and is_file(path):
            differs = wanted is not None and self._names.alone(path).has(wanted) is False
            return FoundFile(path, differs=differs, hashed=self._hashed.get(path, 0))
        return self.find_named(file, hash_digits)

    def find_named(self, name: str, hash_digits: str | None = None) -> FoundFile | None:
        """Return the file in the folders as `find` does; a name in a prompt is never a path.

        Prompts come from strangers, too: opening a path on another machine would tell it of this.
        """
        wanted = _plain_hash(hash_digits)
        named = self._named.meant_by(name)
        if not named and (found := _WITH_HASH.fullmatch(name.strip())):
            named, wanted = self._named.meant_by(found[1]), wanted or found[2].lower()
        if wanted is None:
            digits = _plain_hash(name)
            return _first_of(named) or self._by_hash(digits) or self._by_new_hash(digits)
        return self._with_hash(named, wanted)

    def _with_hash(self, named: Sequence[_Listed], wanted: str) -> FoundFile | None:
        """Return the file with a hash among those of a name, else among all."""
        matches = [(file, self._names.of(file.path).has(wanted)) for file in named]
        right = next((file for file, has in matches if has), None)
        if right is not None:
            return FoundFile(right.path)
        # A file whose hash is not known may well be the one.
        unknown = [file for file, has in matches if has is None]
        found = self._by_hash(wanted) or _first_of(unknown) or self._by_new_hash(wanted)
        if found is not None or not named:
            return found
        first = _first_of(named)
        return first and FoundFile(first.path, first.others, differs=True)

    def _by_hash(self, wanted: str | None) -> FoundFile | None:
        if wanted is None:
            return None
        found = (file for file in self._files if self._names.of(file.path).has(wanted))
        first = next(found, None)
        return None if first is None else FoundFile(first.path)

    def _by_new_hash(self, wanted: str | None) -> FoundFile | None:
        """Return the file with a hash among those whose hashes are not known yet."""
        if wanted is None:
            return None
        found = self._names.hash_until(wanted, (file.path for file in self._files))
        if found is None:
            return None
        self._hashed[found.path] = found.hashed
        return FoundFile(found.path, hashed=found.hashed)

    def _alias(self, file: _Listed) -> str:
        return self._names.of(file.path).alias

    @cached_property
    def _files(self) -> list[_Listed]:
        return [file for folder in self.folders for file in _below(folder)][:_MOST_FILES]

    @cached_property
    def _named(self) -> NamedFiles[_Listed]:
        return NamedFiles(self._files, lambda file: file.name, self._alias)


def _below(folder: Path) -> list[_Listed]:
    """Return the files below a folder in the order in which they are taken."""
    files = [_Listed(path, _name(path, folder)) for path in weights_below(folder, LORA_SUFFIXES)]
    files.sort(key=lambda file: order_in_folder(file.name, file.path.name))
    return files


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _first_of(files: Sequence[_Listed]) -> FoundFile | None:
    if not files:
        return None
    first, *others = (file.path for file in files)
    return FoundFile(first, tuple(others))


def _plain_hash(digits: str | None) -> str | None:
    plain = (digits or "").strip().casefold().removeprefix("0x")
    return plain if _HASH.fullmatch(plain) else None
