"""The memory that a run takes beyond weights, and what a backend's runtime makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

# Results leave a run in float32.
_LEAVING_BYTES = 4


@dataclass(frozen=True, slots=True)
class HeldResults:
    """Numbers of results in a run: those held at once, and those that fused attention takes.

    `grouped` are those of the buffers of a runtime that gives results whose lives do not meet the
    same one, each as large as its largest result. `leaving` are those that leave the run, which are
    held to its end. `spread` are the most of one picture that a transposed convolution takes, and
    `packed` the most keys and values that attention takes.
    """

    at_once: int
    by_heads: int
    grouped: int
    leaving: int = 0
    spread: int = 0
    packed: int = 0


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The memory of a runtime's processor or device beyond weights, measured with upscalers.

    A run takes `share` times the bytes of the results that are needed at once, and a session
    `session_bytes`. `computes_ahead`: results that follow from sizes alone are computed once and
    kept. `empties`: after a run only the block in which its result lies stays, until that is freed.

    Other networks run in any size: a run takes `run_share` times their results, and
    `least_run_bytes`. `groups`: results whose lives do not meet share a buffer, and a buffer is
    never another's part; results leave in memory of their own, and the last run's are copied from
    there. One more piece of memory has what attention packs; or what a transposed convolution takes
    of a picture, once for each of `threads`.
    """

    share: float = 1.65
    session_bytes: int = 8 << 20
    computes_ahead: bool = False
    empties: bool = False
    run_share: float = 1.43
    least_run_bytes: int = 13 << 20
    groups: bool = False
    threads: int = 0

    def run_bytes(self, held: HeldResults, itemsize: int) -> int:
        """Return the bytes of a run that holds so many numbers of `itemsize` bytes."""
        numbers = held.grouped if self.groups else held.at_once + held.by_heads
        held_bytes = int(numbers * itemsize * self.run_share) + self.least_run_bytes
        if not self.groups:
            return held_bytes
        apart = max(self.threads * held.spread, held.packed) * itemsize
        return held_bytes + apart + held.leaving * _LEAVING_BYTES

    def runs_bytes(self, runs: Sequence[tuple[HeldResults, int]]) -> int:
        """Return the bytes of runs one after the other, with all sessions loaded.

        Each is told as `run_bytes` is. What leaves a run is held until the last one has run.
        """
        needed = [self.run_bytes(held, itemsize) for held, itemsize in runs]
        if not self.empties:
            copied = runs[-1][0].leaving * _LEAVING_BYTES if self.groups and runs else 0
            return sum(needed) + copied
        before = accumulate((held.leaving * _LEAVING_BYTES for held, _ in runs), initial=0)
        return max(left + run for left, run in zip(before, needed, strict=False)) if runs else 0
