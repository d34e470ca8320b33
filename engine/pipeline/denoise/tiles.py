"""Tiles of a latent, which a denoiser sees one by one at the size that it was trained for.

MultiDiffusion (Bar-Tal et al. 2023, equation 5): at each evaluation every tile of the one noisy
latent is denoised, and where tiles overlap the predictions are averaged. Here the weight of a tile
falls in a straight line towards its edges, so that no edge of a tile can be seen, and the noise is
that of the whole latent.
"""

from collections.abc import Callable, Sequence
from itertools import product

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.api.tile_starts import tile_starts


class Tile(msgspec.Struct, frozen=True, eq=False):
    """A tile of a latent: its cells, and the weight of each cell, float32 [height, width].

    The weights of all tiles add up to 1 at each cell.
    """

    rows: slice
    columns: slice
    weights: NDArray[np.float32]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in cells."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    def of(self, latent: Array) -> Array:
        """Return the tile of a latent [batch, channels, height, width]."""
        return np.ascontiguousarray(latent[..., self.rows, self.columns])


def latent_tiles(cells: tuple[int, int], longest: int | None) -> tuple[Tile, ...]:
    """Cover a latent of this height and width with tiles of at most `longest` cells a side.

    All are of one size, and neighbours overlap by at least a quarter of it. Without `longest`, and
    where all of it fits, there is one tile.
    """
    rows, columns = (_spans(side, min(side, longest or side)) for side in cells)
    return tuple(
        Tile(down, across, down_weights[:, np.newaxis] * across_weights)
        for (down, down_weights), (across, across_weights) in product(rows, columns)
    )


def in_tiles(
    tiles: Sequence[Tile], sample: Array, predict: Callable[[Tile, Array], Array]
) -> Array:
    """Return the weighted mean of the predictions for all tiles of a denoiser's sample.

    `predict` gets a tile and its part of the sample.
    """
    if len(tiles) == 1:
        return predict(tiles[0], sample)
    whole: Array | None = None
    for tile in tiles:
        prediction = predict(tile, tile.of(sample))
        if whole is None:
            whole = np.zeros((*prediction.shape[:2], *sample.shape[2:]), np.float32)
        whole[..., tile.rows, tile.columns] += prediction * tile.weights
    assert whole is not None, "a latent has at least one tile"
    return whole


def _spans(side: int, length: int) -> list[tuple[slice, NDArray[np.float32]]]:
    """Return the cells of each tile along a side, and their weights."""
    starts = tile_starts(side, length)
    # The distance from a tile's nearer edge, which no other tile shares at an edge of the latent.
    inside = np.arange(length) + 0.5
    falling = np.minimum(inside, length - inside)
    total, weights = np.zeros(side), list[NDArray[np.float64]]()
    for start in starts:
        own = falling.copy()
        if start == 0:
            own[: length // 2] = own.max()
        if start + length == side:
            own[length - length // 2 :] = own.max()
        weights.append(own)
        total[start : start + length] += own
    return [
        (slice(start, start + length), (own / total[start : start + length]).astype(np.float32))
        for start, own in zip(starts, weights, strict=True)
    ]
