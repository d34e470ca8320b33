"""The sides of an upscaler's tiles, and the memory that a picture takes in them."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from backends.base import WorkingMemory
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
# The memory of a device that nothing else is known of.
_USUAL = WorkingMemory()


class TilePlan(msgspec.Struct, frozen=True):
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


def plan_tiles(
    network: UpscalerNetwork,
    free_bytes: int,
    longest: int | None = None,
    memory: WorkingMemory = _USUAL,
) -> TilePlan:
    """Return tiles whose numbers fit in half of the free memory, or of a side that was chosen."""
    share = int(free_bytes * _SHARE_OF_FREE)
    tail = network.tail
    for_tail = min(_TAIL_BYTES, share // 2) if tail is not None else 0
    numbers = network.numbers * memory.share + network.ahead * memory.computes_ahead
    numbers += tail.channels // tail.shrinks**2 if tail is not None else 0
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


class Computing(msgspec.Struct, frozen=True):
    """The bytes of a number on a device, and the memory that its runs take."""

    itemsize: int = _FLOAT32
    memory: WorkingMemory = _USUAL

    def fixed_bytes(self, network: UpscalerNetwork, tile: int) -> int:
        """Return what stays between the runs of tiles of so many pixels."""
        # As they are and in the runtime's own order.
        held = 2 * sum(weight.elements for weight in network.weights.values())
        held += network.ahead * tile * self.memory.computes_ahead
        return held * self.itemsize + self.memory.session_bytes

    def run_bytes(self, numbers: int) -> int:
        """Return the memory of a run that needs so many numbers of results at once."""
        return int(numbers * self.itemsize * self.memory.share)


def peak_bytes(
    network: UpscalerNetwork, plan: TilePlan, shape: Sequence[int], on: Computing
) -> int:
    """Return the memory that enlarging planes [channels, height, width] takes at once.

    The planes are float32, before and after.
    """
    tail, channels, scale = network.tail, network.channels, network.scale
    size = padded_size(network.needs, shape[1:])
    count, height, width = _covered(size, plan.side, overlap_of(network.needs))
    tile, features = height * width, 0
    numbers = [network.numbers * tile]
    if tail is not None:
        inside = height // tail.shrinks, width // tail.shrinks
        _, rows, columns = _covered(inside, plan.tail, tail_overlap(tail.reach))
        numbers.append(tail.numbers * rows * columns)
        # A runtime keeps its result beside the copy that it gives.
        features = 2 * tail.channels * math.prod(inside) * _FLOAT32
    before = channels * math.prod(size) * _FLOAT32
    whole = before * scale**2
    # A tile's result, weighed; the whole so far; and the planes before.
    added = 2 * channels * tile * scale**2 * _FLOAT32 + whole + before
    fixed, runs = on.fixed_bytes(network, tile), [on.run_bytes(sizes) for sizes in numbers]
    if not on.memory.empties:
        return fixed + sum(runs) + features + added
    # The memory of the whole is taken as the first tile is added.
    running = max(runs[0], features + runs[-1]) + before + whole * (count > 1)
    return fixed + max(running, numbers[-1] * on.itemsize + added)


def _covered(size: tuple[int, int], longest: int, overlap: Overlap) -> tuple[int, int, int]:
    """Return the number of tiles that cover a size, and their height and width."""
    covering = tiles(size, longest, overlap)
    height, width = (span.stop - span.start for span in (covering[0].rows, covering[0].columns))
    return len(covering), height, width


def most_bytes(network: UpscalerNetwork) -> int:
    """Return the memory that a network takes in the largest tiles that are tried, as float32."""
    plan = plan_tiles(network, _PLENTY)
    return peak_bytes(network, plan, (network.channels, plan.side, plan.side), Computing())


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


def _side(most: float, numbers: float) -> int:
    return math.isqrt(max(int(most / numbers), 1))
