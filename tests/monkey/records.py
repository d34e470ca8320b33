"""The records that the watch writes beside the application, and that the judge reads."""

from pathlib import Path
from typing import TypeVar

import msgspec

FINDINGS = "findings.jsonl"
FIGURES = "figures.jsonl"
ACTIONS = "actions.jsonl"
# Variables by which the monkey tells the application of its folder, its seed and planted faults.
FOLDER, SEED, PLANTED = "MONKEY_FOLDER", "MONKEY_SEED", "MONKEY_PLANTED"
One = TypeVar("One", bound=msgspec.Struct)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that went wrong; `at` is in seconds of the clock."""

    at: float
    # "traceback", "warning", "stall", "held_up", "left_its_bounds", "crash", "hang" or "lost".
    kind: str
    text: str
    # Processor time of a stall, or the time that the thread waited for something.
    ms: float = 0.0
    # The innermost call comes last.
    stack: tuple[str, ...] = ()


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the application; `rests` where nothing is open or made."""

    at: float
    resident_mb: float
    anonymous_mb: float
    handles: int
    threads: int
    widgets: int = 0
    objects: int = 0
    # Of the pictures that Python holds.
    images_mb: float = 0.0
    # Of the C library's heap: in use, and free within it.
    heap_mb: float = 0.0
    heap_free_mb: float = 0.0
    # Python's own small blocks, which lie outside that heap: the number in use.
    blocks: int = 0
    # The numbers of objects and of widgets by their type, of types with many.
    kinds: dict[str, int] = {}
    rests: bool = False


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the monkey did."""

    at: float
    name: str
    text: str


class Record:
    """A file of records, a line each, which a crash leaves whole."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, record: msgspec.Struct) -> None:
        """Append a record."""
        self._file.write(msgspec.json.encode(record) + b"\n")


def read_records(path: Path, kind: type[One]) -> list[One]:
    """Return the records of a file; a last one that was cut off is left out."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [msgspec.json.decode(line, type=kind) for line in lines if line.endswith(b"\n")]
