"""The sides of an upscaler's tiles, and the memory that a picture takes in them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.upscalers.network import Needs, UpscalerNetwork
from engine.upscalers.tiles import Overlap, tiles

# The longest side of a tile in pixels, and the longest tried for networks that see all of it.
_LONGEST, _LONGEST_OF_ALL = 512, 1024
_SHARE_OF_FREE = 0.5
# The memory of a tile of the layers that enlarge: larger ones are no faster.
_TAIL_BYTES = 256 << 20
# Networks that see the whole picture differ more between tiles, so these give way slowly.
_BLEND, _BLEND_OF_ALL = 8, 32
# The layers that enlarge give the same in each tile, but for the rounding.
_TAIL_BLEND = 1
# More free memory than any tile takes.
_PLENTY = 1 << 50
_FLOAT32 = np.dtype(np.float32).itemsize


@dataclass(frozen=True, slots=True)
class TilePlan:
    """The longest sides of tiles: of the picture, and of the features that a tail enlarges.

    `tail` is 0 for a network without one.
    """

    side: int
    tail: int

    def smaller(self, network: UpscalerNetwork) -> "TilePlan | None":
        """Return the plan with tiles of half the sides; None where they would keep nothing."""
        if self.side // 2 < overlap_of(network.needs).least:
            return None
        return TilePlan(self.side // 2, self.tail // 2)


def plan_tiles(network: UpscalerNetwork, free_bytes: int, longest: int | None = None) -> TilePlan:
    """Return tiles whose numbers fit in half of the free memory, or of a side that was chosen."""
    share = int(free_bytes * _SHARE_OF_FREE)
    tail = network.tail
    for_tail = min(_TAIL_BYTES, share // 2) if tail is not None else 0
    numbers = network.numbers + (tail.channels // tail.shrinks**2 if tail is not None else 0)
    most = longest or (_LONGEST_OF_ALL if network.needs.sees_all else _LONGEST)
    side = longest or min(_side((share - for_tail) / _FLOAT32, numbers), most)
    side = max(side, overlap_of(network.needs).least)
    if tail is None:
        return TilePlan(side, 0)
    return TilePlan(
        side, max(_side(for_tail / _FLOAT32, tail.numbers), tail_overlap(tail.reach).least)
    )


def tiles_of(network: UpscalerNetwork, plan: TilePlan, shape: Sequence[int]) -> int:
    """Return the number of tiles in which planes [channels, height, width] are enlarged."""
    rounds = rounds_of(network, shape[0])
    size = padded_size(network.needs, shape[1:])
    return rounds * len(tiles(size, plan.side, overlap_of(network.needs)))


def rounds_of(network: UpscalerNetwork, channels: int) -> int:
    """Return how often a network is run over planes, which it takes all at once or one by one."""
    return 1 if channels == network.channels else channels


def peak_bytes(
    network: UpscalerNetwork, plan: TilePlan, shape: Sequence[int], itemsize: int
) -> int:
    """Return the memory that enlarging planes [channels, height, width] takes at once.

    Its numbers have `itemsize` bytes on the device; the planes are float32, before and after.
    """
    needs, tail, scale = network.needs, network.tail, network.scale
    size = padded_size(needs, shape[1:])
    first = tiles(size, plan.side, overlap_of(needs))[0]
    height, width = (span.stop - span.start for span in (first.rows, first.columns))
    tile, channels = height * width, network.channels
    held = network.numbers * tile * itemsize
    if tail is not None:
        inside = height // tail.shrinks, width // tail.shrinks
        part = tiles(inside, plan.tail, tail_overlap(tail.reach))[0]
        pixels = (part.rows.stop - part.rows.start) * (part.columns.stop - part.columns.start)
        # A runtime keeps its result beside the copy that it gives.
        held += tail.numbers * pixels * itemsize + 2 * tail.channels * math.prod(inside) * _FLOAT32
    # The tile's result, weighed; the whole so far; and the planes before.
    results = 2 * channels * tile * scale**2 + channels * math.prod(size) * (scale**2 + 1)
    # As they are and in the runtime's own order.
    weights = 2 * sum(one.elements for one in network.weights.values()) * itemsize
    return held + results * _FLOAT32 + weights


def most_bytes(network: UpscalerNetwork) -> int:
    """Return the memory that a network takes in the largest tiles that are tried, as float32."""
    plan = plan_tiles(network, _PLENTY)
    return peak_bytes(network, plan, (network.channels, plan.side, plan.side), _FLOAT32)


def padded_size(needs: Needs, size: Sequence[int]) -> tuple[int, int]:
    """Return the height and width, at least those of `size`, that a network takes."""
    height, width = (
        math.ceil(max(side, needs.least) / needs.multiple) * needs.multiple for side in size
    )
    return height, width


def overlap_of(needs: Needs) -> Overlap:
    """Return the overlap of a network's tiles."""
    return Overlap(needs.reach, _BLEND_OF_ALL if needs.sees_all else _BLEND, needs.multiple)


def tail_overlap(reach: int) -> Overlap:
    """Return the overlap of the tiles of the layers that enlarge."""
    return Overlap(reach, _TAIL_BLEND)


def _side(most: float, numbers: int) -> int:
    return math.isqrt(max(int(most / numbers), 1))
