"""The memory that a run takes beyond weights, and what a backend's runtime makes of it."""

from collections.abc import Sequence
from itertools import accumulate

import msgspec

# Numbers enter and leave a run in float32.
_OUTSIDE_BYTES = 4


class PackedAttention(msgspec.Struct, frozen=True):
    """Numbers of keys and values of one attention, as it packs them: all, and those of one head."""

    numbers: int
    of_head: int

    def bytes_for(self, itemsize: int, threads: int, cache_bytes: int) -> int:
        """Return the bytes that are packed, of numbers of `itemsize` bytes.

        Each of `threads` packs the heads that it computes one by one, if a head fits its cache of
        `cache_bytes` both as it comes and as it is packed; else all are packed before.
        """
        one_by_one = 2 * self.of_head * itemsize <= cache_bytes
        return (self.of_head * threads if one_by_one else self.numbers) * itemsize


class HeldResults(msgspec.Struct, frozen=True):
    """Numbers of results in a run: those held at once, and those that fused attention takes.

    `leaving` are those that leave the run, which are held to its end, `entering` those that it is
    given, without the optional ones.

    For a runtime that gives results whose lives do not meet the same buffer, and for no other,
    `grouped` are the numbers of the buffers, each as large as its largest result, and `packed` is
    what each attention packs. Where a runtime's arena is simulated, in float32, `arena_bytes` are
    its bytes and `arena_left` those that stay in it as long as what left the run; 0 for others.
    """

    at_once: int
    by_heads: int
    grouped: int = 0
    leaving: int = 0
    packed: frozenset[PackedAttention] = frozenset()
    entering: int = 0
    arena_bytes: int = 0
    arena_left: int = 0


class WorkingMemory(msgspec.Struct, frozen=True):
    """The memory of a runtime's processor or device beyond weights, measured with upscalers.

    A run takes `share` times the bytes of the results that are needed at once, and a session
    `session_bytes`. `computes_ahead`: results that follow from sizes alone are computed once and
    kept. `empties`: after a run only the block in which its result lies stays, until that is freed.

    Other networks run in any size: a run takes `run_share` times their results, and
    `least_run_bytes`. `groups`: results whose lives do not meet share a buffer, and a buffer is
    never another's part; results leave in memory of their own, and the last run's are copied from
    there. One more piece of memory has what attention packs, on `threads` with `cache_bytes` of
    cache each. `simulates`: results lie in an arena that is simulated call by call.
    """

    share: float = 1.65
    session_bytes: int = 8 << 20
    computes_ahead: bool = False
    empties: bool = False
    run_share: float = 1.43
    least_run_bytes: int = 13 << 20
    groups: bool = False
    simulates: bool = False
    threads: int = 0
    cache_bytes: int = 0

    def run_bytes(self, held: HeldResults, itemsize: int) -> int:
        """Return the bytes of a run that holds so many numbers of `itemsize` bytes."""
        numbers = held.grouped if self.groups else held.at_once + held.by_heads
        shared_bytes = int(numbers * itemsize * self.run_share)
        held_bytes = held.arena_bytes if self.simulates else shared_bytes
        held_bytes += self.least_run_bytes
        held_bytes += held.entering * _OUTSIDE_BYTES
        if not self.groups:
            return held_bytes
        packed = (
            attention.bytes_for(itemsize, self.threads, self.cache_bytes)
            for attention in held.packed
        )
        return held_bytes + max(packed, default=0) + held.leaving * _OUTSIDE_BYTES

    def runs_bytes(self, runs: Sequence[tuple[HeldResults, int]]) -> int:
        """Return the bytes of runs one after the other, with all sessions loaded.

        Each is told as `run_bytes` is. What leaves a run is held until the last one has run.
        """
        needed = [self.run_bytes(held, itemsize) for held, itemsize in runs]
        if not self.empties:
            copied = runs[-1][0].leaving * _OUTSIDE_BYTES if self.groups and runs else 0
            return sum(needed) + copied
        left = (max(held.leaving * _OUTSIDE_BYTES, held.arena_left) for held, _ in runs)
        before = accumulate(left, initial=0)
        return max(left + run for left, run in zip(before, needed, strict=False)) if runs else 0
