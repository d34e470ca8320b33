"""Descriptions of the user's files in parts: a message for each, and time for other work between.

A first listing may take minutes, and end with the program.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

# Files beyond these are not listed.
MOST_FILES = 50_000
# A message holds at most this many descriptions, and stays far below the limit of a frame.
CHUNK = 50
# Facts are written after so many files were opened.
KEPT_TOGETHER = 200

FileT = TypeVar("FileT")
InfoT = TypeVar("InfoT")


def parts_of(infos: Sequence[InfoT]) -> Iterator[tuple[InfoT, ...]]:
    """Yield descriptions in parts of at most CHUNK."""
    for start in range(0, len(infos), CHUNK):
        yield tuple(infos[start : start + CHUNK])


def read_in_parts(
    files: Sequence[FileT], read: Callable[[FileT], InfoT], save: Callable[[], None]
) -> Iterator[tuple[InfoT, ...] | None]:
    """Open files, and yield their descriptions in parts; None where other work may run in between.

    `read` opens a file and notes the facts in it, which `save` writes for the next listing.
    """
    for start in range(0, len(files), KEPT_TOGETHER):
        ready: list[InfoT] = []
        for file in files[start : start + KEPT_TOGETHER]:
            ready.append(read(file))
            if len(ready) == CHUNK:
                yield tuple(ready)
                ready = []
            yield None
        yield from parts_of(ready)
        save()
