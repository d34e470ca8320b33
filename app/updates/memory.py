"""The memory of checks for updates: whether they are switched on, and what was seen."""

import time
from pathlib import Path

import msgspec

from engine.cached_state import recall
from engine.durable import replace_file

_FILE = "updates.json"
_MOST_BYTES = 1 << 20
_DAY_S = 24 * 3600


class UpdateMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The settings and findings of checks. `checked` is in seconds since 1970.

    `sequences` has the highest number of a list that each place gave.
    """

    automatic: bool = False
    checked: float = 0.0
    sequences: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    def is_due(self, now: float) -> bool:
        """Return True if a day has passed since the last check, or the clock was set back."""
        return self.automatic and not 0 <= now - self.checked < _DAY_S


_DECODER = msgspec.json.Decoder(UpdateMemory)


def read_memory(state: Path) -> UpdateMemory:
    """Return the memory in the folder `state`; a fresh one where it cannot be read."""
    return recall(state / _FILE, _DECODER, _MOST_BYTES) or UpdateMemory()


def keep_automatic(state: Path, *, automatic: bool) -> None:
    """Keep a person's wish for checks. Raises OSError."""
    _write(state, msgspec.structs.replace(read_memory(state), automatic=automatic))


def keep_check(state: Path, place: str, sequence: int) -> None:
    """Keep that a place was asked now, and the number of its list. Raises OSError."""
    before = read_memory(state)
    sequences = {**before.sequences, place: max(sequence, before.sequences.get(place, 0))}
    _write(state, msgspec.structs.replace(before, checked=time.time(), sequences=sequences))


def _write(state: Path, memory: UpdateMemory) -> None:
    replace_file(state / _FILE, msgspec.json.encode(memory), durable=True)
