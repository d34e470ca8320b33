"""The user's files that are named as tiny autoencoders, listed once for each change of folders."""

import re
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import msgspec

from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES
from engine.folders import ADAPTER_FOLDERS, is_settled, may_keep_times, modified_of, weights_below

_SUFFIXES = frozenset({*SAFETENSORS_SUFFIXES, ".pth", ".pt"})
_MOST_FILES = 5000
# A part of the names of all tiny autoencoders' files, folders or repositories.
TINY_NAME = re.compile(r"taesd|taef[12]", re.IGNORECASE)


class _Listing(msgspec.Struct, frozen=True):
    """The files below some folders, and the times of all folders that were looked into."""

    roots: tuple[Path, ...]
    # By root.
    times: tuple[dict[Path, int], ...]
    files: tuple[Path, ...]

    def is_current(self, roots: tuple[Path, ...]) -> bool:
        """Tell whether the folders are these, and none has gained, lost or renamed a file."""
        return roots == self.roots and all(
            modified_of(folder) == modified_ns
            for times in self.times
            for folder, modified_ns in times.items()
        )

    @property
    def tells_of_changes(self) -> bool:
        """True if the folders will have other times when a file is added or removed."""
        now_ns = time.time_ns()
        return not any(
            may_keep_times(times.values())
            or not all(is_settled(modified_ns, now_ns) for modified_ns in times.values())
            for times in self.times
            if times
        )


class TinyFiles:
    """Lists the files below folders that may be tiny autoencoders, by their paths."""

    def __init__(self) -> None:
        self._latest: _Listing | None = None

    def below(self, folders: Iterable[Path]) -> Iterator[Path]:
        """Yield the files; the folders are walked through only if one has changed.

        Those on a drive with FAT or exFAT are walked through each time.
        """
        roots, latest = tuple(folders), self._latest
        if latest is None or not latest.is_current(roots):
            latest = _listed(roots)
            self._latest = latest if latest.tells_of_changes else None
        yield from latest.files

    def forget(self) -> None:
        """List anew the next time, whatever the times of folders say."""
        self._latest = None


def _listed(roots: tuple[Path, ...]) -> _Listing:
    times = tuple(dict[Path, int]() for _ in roots)
    every = chain.from_iterable(
        weights_below(root, _SUFFIXES, inside_checkpoints=True, but=ADAPTER_FOLDERS, times=of_root)
        for root, of_root in zip(roots, times, strict=True)
    )
    files = islice((path for path in every if TINY_NAME.search(str(path))), _MOST_FILES)
    return _Listing(roots, files=tuple(files), times=times)
