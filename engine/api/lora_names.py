"""The LoRA files that a name means: the rules of the engine, which the window follows.

A name is, in this order: the end of a path below a folder, with or without its suffix; the name in
the file's metadata (A1111's alias, `ss_output_name`). Upper and lower case count only where they
tell files apart.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

_PICKLES = (".pt", ".ckpt")
# The suffixes that A1111 lists, and safetensors' short one.
LORA_SUFFIXES = frozenset({".safetensors", ".sft", *_PICKLES})

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
            self._by_stem[_stem(name_of(file))].append(file)

    def meant_by(self, name: str) -> tuple[File, ...]:
        """Return the files that a name may mean, the one that is taken first."""
        parts = [part for part in name.strip().replace("\\", "/").split("/") if part]
        if not parts:
            return ()
        parts[-1] = _without_suffix(parts[-1])
        alike = self._by_stem.get(parts[-1].casefold(), ())
        for first in range(len(parts)):
            tail = "/".join(parts[first:])
            near = [file for file in alike if _ends(self._folded(file), tail.casefold())]
            if near:
                exact = [file for file in near if _ends(self._name_of(file), tail)]
                return tuple(exact or near)
        titled = self._by_title.get(parts[0].casefold(), ()) if len(parts) == 1 else ()
        return tuple(file for file in titled if self._title_of(file) == parts[0]) or tuple(titled)

    def with_stem_of(self, file: File) -> tuple[File, ...]:
        """Return all files whose names end as a file's, whatever their folders."""
        return tuple(self._by_stem.get(_stem(self._name_of(file)), ()))

    def _folded(self, file: File) -> str:
        return self._name_of(file).casefold()

    @cached_property
    def _by_title(self) -> dict[str, list[File]]:
        found: dict[str, list[File]] = defaultdict(list)
        for file in self._files:
            if title := self._title_of(file):
                found[title.casefold()].append(file)
        return found


def order_in_folder(name: str, path: str) -> tuple[int, str, bool]:
    """Return a key that sorts the files below a folder in the order in which they are taken.

    Files that lie less deep come first, then the alphabet, then safetensors files.
    """
    return name.count("/"), name.casefold(), path.casefold().endswith(_PICKLES)


def _stem(name: str) -> str:
    return name.rpartition("/")[2].casefold()


def _without_suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and f"{dot}{suffix}".lower() in LORA_SUFFIXES else name


def _ends(name: str, tail: str) -> bool:
    return name == tail or name.endswith(f"/{tail}")
