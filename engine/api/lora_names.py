"""The LoRA files that a name means: the rules of the engine, which the window follows.

A name is, in this order: the end of a path below a folder, with or without its suffix; the name in
the file's metadata (A1111's alias, `ss_output_name`). A file that diffusers saved may also be named
by its folder. Upper and lower case, and the forms of accents in Unicode, count only where they tell
files apart.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from engine.api.folded import folded
from engine.api.weight_suffixes import (
    PYTORCH_SUFFIXES,
    SAFETENSORS_SUFFIXES,
    without_weight_suffix,
)

# The suffixes that A1111 and ComfyUI list; diffusers' first LoRAs are .bin files.
LORA_SUFFIXES = frozenset({*SAFETENSORS_SUFFIXES, *PYTORCH_SUFFIXES})
# diffusers saves a LoRA under this name in a folder of its own, whose name is the LoRA's.
_DIFFUSERS_STEM = "pytorch_lora_weights"

File = TypeVar("File")


class NamedFiles(Generic[File]):
    """Files in the order in which they are taken, by their names and titles.

    `name_of` returns a file's path below its folder, without suffix and with `/`; `title_of`, the
    name in its metadata, or nothing. Titles are asked for once a name is no file's.
    """

    def __init__(
        self,
        files: Sequence[File],
        name_of: Callable[[File], str],
        title_of: Callable[[File], str],
    ) -> None:
        self._files, self._name_of, self._title_of = files, name_of, title_of
        self._by_stem: dict[str, list[File]] = defaultdict(list)
        for file in files:
            for stem in dict.fromkeys(map(_stem, _names(name_of(file)))):
                self._by_stem[stem].append(file)

    def meant_by(self, name: str) -> tuple[File, ...]:
        """Return the files that a name may mean, the one that is taken first."""
        parts = [part for part in name.strip().replace("\\", "/").split("/") if part]
        if not parts:
            return ()
        parts[-1] = without_weight_suffix(parts[-1])
        alike = self._by_stem.get(folded(parts[-1]), ())
        for first in range(len(parts)):
            tail = "/".join(parts[first:])
            near = [file for file in alike if self._ends(file, tail, folded)]
            if near:
                exact = [file for file in near if self._ends(file, tail, str)]
                return tuple(exact or near)
        titled = self._by_title.get(folded(parts[0]), ()) if len(parts) == 1 else ()
        return tuple(file for file in titled if self._title_of(file) == parts[0]) or tuple(titled)

    def with_stem_of(self, file: File) -> tuple[File, ...]:
        """Return all files whose names end as a file's, whatever their folders."""
        return tuple(self._by_stem.get(_stem(_names(self._name_of(file))[0]), ()))

    def _ends(self, file: File, tail: str, compared: Callable[[str], str]) -> bool:
        """Return True if one of a file's names ends so, both in the form that is compared."""
        end = compared(tail)
        own = map(compared, _names(self._name_of(file)))
        return any(name == end or name.endswith(f"/{end}") for name in own)

    @cached_property
    def _by_title(self) -> dict[str, list[File]]:
        found: dict[str, list[File]] = defaultdict(list)
        for file in self._files:
            if title := self._title_of(file):
                found[folded(title)].append(file)
        return found


def order_in_folder(name: str, path: str) -> tuple[int, str, bool]:
    """Return a key that sorts the files below a folder in the order in which they are taken.

    Files that lie less deep come first, then the alphabet, then safetensors files.
    """
    return name.count("/"), name.casefold(), path.casefold().endswith(PYTORCH_SUFFIXES)


def _names(name: str) -> tuple[str, ...]:
    """Return a file's names; of those that diffusers saved the folder's comes first."""
    folder, _, stem = name.rpartition("/")
    return (folder, name) if folder and stem.casefold() == _DIFFUSERS_STEM else (name,)


def _stem(name: str) -> str:
    return folded(name.rpartition("/")[2])
