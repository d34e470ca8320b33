"""The noise of SDE samplers: increments of a Brownian path, looked up by interval.

A path W over the noise levels is refined by halving: given the increment of an interval, that of
its left half is half of it plus a normal value, drawn from a seed that follows from the path's seed
and the half's place. So an interval's increment does not depend on earlier calls, and a sampler
that takes other steps follows the same path. The tree is torchsde's `BrownianTree` (0.2.6,
tol=1e-6), as k-diffusion's `BatchedBrownianTree` and `BrownianTreeNoiseSampler` use it.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Self

import msgspec
import numpy as np

from engine.sampling.types import Latent

# Times are rounded to this many digits, which ends the halving (torchsde's tol).
_DIGITS = 6
# torchsde's `pool_size` of BrownianTree.
_POOL = 24
# Cached halves: two paths from the root to the finest interval, or as many as fit in this memory.
# The noise does not depend on the cache.
_MOST_KEPT, _MOST_BYTES = 64, 1 << 27


class _Interval(msgspec.Struct, frozen=True):
    """An interval of the tree: the `place`-th of 2^depth, counted from the left."""

    start: float
    end: float
    depth: int = 0
    place: int = 0

    @property
    def middle(self) -> float:
        return round(0.5 * (self.end + self.start), _DIGITS)

    def halves(self) -> tuple[Self, Self]:
        below, left = self.depth + 1, 2 * self.place
        return (
            type(self)(self.start, self.middle, below, left),
            type(self)(self.middle, self.end, below, left + 1),
        )


class BrownianNoise:
    """Standard normal noise for the steps of a sampler; satisfies `NoiseSource`.

    For the step from sigma to sigma_next the noise is the path's increment, divided by the root of
    the difference. Calls may come in any order and repeat; memory does not grow with their number.
    """

    def __init__(
        self, seed: int, draw: Callable[[int], Latent], low: np.float32, high: np.float32
    ) -> None:
        """Make a path over the levels from `low` to `high`.

        `draw` returns the standard normal values of a node for its 32-bit seed, always in the same
        shape. `seed` is at least 0.
        """
        self._seed, self._draw = seed, draw
        start, end = float(low), float(high)
        self._root = _Interval(round(start, _DIGITS), round(end, _DIGITS))
        root_seed = np.random.SeedSequence(seed, pool_size=_POOL).generate_state(1)[0]
        self._whole = draw(int(root_seed)) * np.float32(math.sqrt(end - start))
        self._kept = OrderedDict[tuple[int, int], tuple[Latent, Latent]]()
        self._most_kept = max(2, min(_MOST_KEPT, _MOST_BYTES // (2 * self._whole.nbytes)))

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """Return the noise of the step; beyond the path's ends it is constant, as in torchsde."""
        low, high = sorted((sigma, sigma_next))
        increment = self._increment(float(low), float(high))
        # Time runs from the lowest level up, samplers the other way: the increment is negative.
        sign = np.float32(1 if sigma < sigma_next else -1)
        return increment * sign / np.sqrt(high - low)

    @property
    def kept_bytes(self) -> int:
        """Memory of the cached halves, without the whole path's increment."""
        return sum(half.nbytes for halves in self._kept.values() for half in halves)

    def _increment(self, low: float, high: float) -> Latent:
        """Return W(high) - W(low), the sum over the tree's largest intervals in between."""
        root = self._root
        low, high = (round(min(max(t, root.start), root.end), _DIGITS) for t in (low, high))
        total: Latent | None = None
        todo = [(root, self._whole, low, high)] if low < high else []
        while todo:
            interval, value, begin, end = todo.pop()
            if (begin, end) == (interval.start, interval.end):
                total = value if total is None else total + value
                continue
            left, right = interval.halves()
            left_value, right_value = self._halve(interval, value)
            if end > interval.middle:
                todo.append((right, right_value, max(begin, right.start), end))
            if begin < interval.middle:
                todo.append((left, left_value, begin, min(end, left.end)))
        return np.zeros_like(self._whole) if total is None else total

    def _halve(self, interval: _Interval, value: Latent) -> tuple[Latent, Latent]:
        """Return the increments of both halves of an interval with the increment `value`."""
        key = interval.depth, interval.place
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        spawn_key = interval.place, interval.depth
        sequence = np.random.SeedSequence(self._seed, spawn_key=spawn_key, pool_size=_POOL)
        noise = self._draw(int(sequence.generate_state(1)[0]))
        reciprocal = 1 / (interval.end - interval.start)
        before, after = interval.middle - interval.start, interval.end - interval.middle
        # In torchsde's order: its float32 products are rounded one by one.
        left = np.float32(before) * value * np.float32(reciprocal)
        left = left + np.float32(math.sqrt(before * after * reciprocal)) * noise
        halves = left, value - left
        self._kept[key] = halves
        if len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
        return halves
