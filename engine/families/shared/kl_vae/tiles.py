"""Tiles that cover a picture, and the whole picture's statistics computed from its tiles'."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import msgspec
import numpy as np

from backends.base import Array
from engine.graphs.vae import NORM_EPSILON
from engine.graphs.vae_tiles import ShellNorm


class Span(msgspec.Struct, frozen=True):
    """A tile's cells along one axis: the range it takes in, and the range kept of its result."""

    start: int
    stop: int
    kept_from: int
    kept_to: int


class Tile(msgspec.Struct, frozen=True):
    """A tile of a picture: its rows and columns, in cells."""

    rows: Span
    columns: Span

    def crop(self, whole: Array, scale: int = 1) -> Array:
        """Return the tile's input from `whole`, [batch, channels, height, width].

        `scale` is the number of array elements along the side of a cell.
        """
        rows, columns = self.rows, self.columns
        return np.ascontiguousarray(
            whole[
                ...,
                rows.start * scale : rows.stop * scale,
                columns.start * scale : columns.stop * scale,
            ]
        )

    def keep(self, result: Array, whole: Array, scale: int = 1) -> None:
        """Copy the kept part of the tile's result into the array `whole`."""
        rows, columns = self.rows, self.columns
        height, width = rows.kept_to - rows.kept_from, columns.kept_to - columns.kept_from
        top, left = rows.kept_from - rows.start, columns.kept_from - columns.start
        whole[
            ...,
            rows.kept_from * scale : rows.kept_to * scale,
            columns.kept_from * scale : columns.kept_to * scale,
        ] = result[..., top * scale : (top + height) * scale, left * scale : (left + width) * scale]


class Tiling(msgspec.Struct, frozen=True):
    """Tiles of equal size that cover a picture."""

    tiles: tuple[Tile, ...]
    # The height and width of each tile, in cells.
    size: tuple[int, int]


def tiling(size: tuple[int, int], longest: int, halo: int) -> Tiling:
    """Cover `size` cells with as few tiles of at most `longest` cells a side as possible.

    Each tile takes in at least `halo` cells beyond the seams with its neighbours. The tiles are as
    small as their number allows.
    """
    rows, columns = (_spans(side, longest, halo) for side in size)
    tiles = tuple(Tile(*spans) for spans in product(rows, columns))
    return Tiling(tiles, (rows[0].stop - rows[0].start, columns[0].stop - columns[0].start))


def _spans(side: int, longest: int, halo: int) -> list[Span]:
    if side <= longest:
        return [Span(0, side, 0, side)]
    kept = max(1, longest - 2 * halo)
    count = math.ceil((side - 2 * halo) / kept)
    length = min(side, math.ceil((side - 2 * halo) / count) + 2 * halo)
    starts = [round(i * (side - length) / (count - 1)) for i in range(count)]
    # A seam lies in the middle of the overlap of two tiles.
    seams = [0, *((a + length + b) // 2 for a, b in pairwise(starts)), side]
    return [Span(start, start + length, seams[i], seams[i + 1]) for i, start in enumerate(starts)]


def shared_norms(
    norms: Sequence[ShellNorm], groups: int, measured: Array
) -> Iterator[tuple[str, Array]]:
    """Yield the inputs of each normalisation, by name, computed from the statistics of tiles.

    `measured` is [tiles, 2 * groups * norms], from tiles of equal size, means before variances. The
    variance of the whole is the mean variance plus the variance of the means (Chan et al. 1979).
    """
    by_norm = measured.reshape(len(measured), len(norms), 2, groups).astype(np.float64)
    means, variances = by_norm[:, :, 0], by_norm[:, :, 1]
    mean = means.mean(0)
    factor = 1 / np.sqrt(variances.mean(0) + means.var(0) + NORM_EPSILON)
    for i, norm in enumerate(norms):
        per_group = norm.channels // groups
        yield f"{norm.name}.centre", np.repeat(-mean[i], per_group).astype(np.float32)
        yield f"{norm.name}.factor", np.repeat(factor[i], per_group).astype(np.float32)
