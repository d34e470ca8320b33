"""The user's files that are named as tiny autoencoders, listed once for each change of folders."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES
from engine.folders import ADAPTER_FOLDERS, is_settled, modified_of, weights_below

_SUFFIXES = frozenset({*SAFETENSORS_SUFFIXES, ".pth", ".pt"})
_MOST_FILES = 5000
# A part of the names of all tiny autoencoders' files, folders or repositories.
TINY_NAME = re.compile(r"taesd|taef[12]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Listing:
    """The files below some folders, and the times of all folders that were looked into."""

    roots: tuple[Path, ...]
    times: dict[Path, int]
    files: tuple[Path, ...]

    def is_current(self, roots: tuple[Path, ...]) -> bool:
        """Tell whether the folders are these, and none has gained, lost or renamed a file."""
        return roots == self.roots and all(
            modified_of(folder) == time for folder, time in self.times.items()
        )


class TinyFiles:
    """Lists the files below folders that may be tiny autoencoders, by their paths."""

    def __init__(self) -> None:
        self._latest: _Listing | None = None

    def below(self, folders: Iterable[Path]) -> Iterator[Path]:
        """Yield the files; the folders are walked through only if one has changed."""
        roots, latest = tuple(folders), self._latest
        if latest is None or not latest.is_current(roots):
            latest, now_ns = _listed(roots), time.time_ns()
            settled = all(is_settled(modified_ns, now_ns) for modified_ns in latest.times.values())
            self._latest = latest if settled else None
        yield from latest.files

    def forget(self) -> None:
        """List anew the next time: on FAT and exFAT a folder's time may not tell of new files."""
        self._latest = None


def _listed(roots: tuple[Path, ...]) -> _Listing:
    times: dict[Path, int] = {}
    every = chain.from_iterable(
        weights_below(folder, _SUFFIXES, inside_checkpoints=True, but=ADAPTER_FOLDERS, times=times)
        for folder in roots
    )
    files = islice((path for path in every if TINY_NAME.search(str(path))), _MOST_FILES)
    return _Listing(roots, files=tuple(files), times=times)
