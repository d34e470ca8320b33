"""Tiles that cover a picture with overlaps, and a picture put together from their results.

Each tile takes in what influences the part of it that is kept. Across a seam its weight falls in a
straight line as its neighbour's rises, so that what difference is left has no edge.
"""

import math
from itertools import product

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Span(msgspec.Struct, frozen=True):
    """A tile along one side of a picture: its pixels, and the weight of each."""

    start: int
    stop: int
    weights: Floats


class Tile(msgspec.Struct, frozen=True):
    """A tile of a picture."""

    rows: Span
    columns: Span

    def crop(self, picture: Floats) -> Floats:
        """Return the tile of a picture, float32 [channels, height, width]."""
        rows, columns = self.rows, self.columns
        return np.ascontiguousarray(
            picture[:, rows.start : rows.stop, columns.start : columns.stop]
        )

    def add(self, result: Floats, whole: Floats, scale: int) -> None:
        """Add the tile's weighted result to the whole, both `scale` times as large."""
        rows, columns = self.rows, self.columns
        down, across = (np.repeat(span.weights, scale) for span in (rows, columns))
        whole[
            :, rows.start * scale : rows.stop * scale, columns.start * scale : columns.stop * scale
        ] += result * down[:, None] * across


class Overlap(msgspec.Struct, frozen=True):
    """The overlap of tiles, in pixels: what lies within `reach` of a tile's edge is not kept.

    Beyond that, tiles overlap by at least `blend` pixels more, in which one gives way to the next.
    Tiles begin at multiples of `multiple`.
    """

    reach: int
    blend: int = 8
    multiple: int = 1

    @property
    def margin(self) -> int:
        """Half the overlap of two tiles."""
        return _up(self.reach + math.ceil(self.blend / 2), self.multiple)

    @property
    def least(self) -> int:
        """The shortest tile that keeps something."""
        return 2 * self.margin + self.multiple


def tiles(size: tuple[int, int], longest: int, overlap: Overlap) -> tuple[Tile, ...]:
    """Cover height and width with few tiles of equal sizes, of at most `longest` pixels a side.

    Both are multiples of the overlap's `multiple`. A `longest` below the overlap's `least` counts
    as that.
    """
    longest = max(longest // overlap.multiple * overlap.multiple, overlap.least)
    rows, columns = (_spans(side, longest, overlap) for side in size)
    return tuple(Tile(*spans) for spans in product(rows, columns))


def _spans(side: int, longest: int, overlap: Overlap) -> list[Span]:
    starts, length = _starts(side, longest, overlap)
    found: list[Floats] = []
    for place, start in enumerate(starts):
        pixels = np.arange(start, start + length, dtype=np.float32) + 0.5
        weights = np.ones(length, np.float32)
        if place:
            weights *= _rise(pixels, starts[place - 1] + length, start, overlap.reach)
        if place < len(starts) - 1:
            weights *= 1 - _rise(pixels, start + length, starts[place + 1], overlap.reach)
        found.append(weights)
    # Where more than two tiles meet, their weights would not add up to one.
    total = np.zeros(side, np.float32)
    for start, weights in zip(starts, found, strict=True):
        total[start : start + length] += weights
    return [
        Span(start, start + length, weights / total[start : start + length])
        for start, weights in zip(starts, found, strict=True)
    ]


def _starts(side: int, longest: int, overlap: Overlap) -> tuple[list[int], int]:
    """Return where tiles begin, and their length."""
    if side <= longest:
        return [0], side
    multiple, apart = overlap.multiple, 2 * overlap.margin
    count = math.ceil((side - apart) / (longest - apart))
    length = min(side, _up(math.ceil((side - apart) / count), multiple) + apart)
    free = side - length
    return [i * free // (count - 1) // multiple * multiple for i in range(count)], length


def _rise(pixels: Floats, end: int, start: int, reach: int) -> Floats:
    """Return the weights of a tile from `start` on, where the one before ends at `end`."""
    first, last = start + reach, end - reach
    return np.clip((pixels - first) / (last - first), 0, 1, dtype=np.float32)


def _up(value: int, multiple: int) -> int:
    return math.ceil(value / multiple) * multiple
