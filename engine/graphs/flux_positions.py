"""The positions of Flux.1's tokens: those of the latent, and of reference pictures beside it."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine.graphs.flux import PATCH, FluxSizes
from engine.graphs.rotary_embeddings import rotary_angles

_ROTATION_BASE = 10_000
# A latent's height and width in cells, or the row and column of a token.
Cells = tuple[int, int]


def rotations(
    config: FluxSizes, cells: Cells, references: Sequence[Cells] = ()
) -> dict[str, Array]:
    """Return the cosines and sines of a latent's rotary embedding, for its even `cells`.

    Both are float32 [patches, head width]; each number stands twice, for a pair of neighbours (Su
    et al. 2021, RoFormer; diffusers `FluxPosEmbed`). `references` are the even heights and widths
    in cells of pictures whose tokens follow.
    """
    positions = [_positions(cells)]
    positions += [_positions(size, 1, first) for size, first in _laid_out(references)]
    together: NDArray[np.float64] = np.concatenate(positions, axis=1)
    every = np.concatenate(
        [
            rotary_angles(together[axis], width, _ROTATION_BASE)
            for axis, width in enumerate(config.axes)
        ],
        axis=1,
    )
    return {
        "cosines": np.cos(every).astype(np.float32),
        "sines": np.sin(every).astype(np.float32),
    }


def _positions(cells: Cells, number: int = 0, first: Cells = (0, 0)) -> NDArray[np.float64]:
    """Return the coordinates of a latent's tokens, row by row: [3, patches].

    `number` is the first coordinate of all, `first` the row and column of the first token.
    """
    rows, columns = (side // PATCH for side in cells)
    positions = np.full((3, rows, columns), float(number))
    positions[1] = (first[0] + np.arange(rows))[:, np.newaxis]
    positions[2] = first[1] + np.arange(columns)
    return positions.reshape(3, -1)


def _laid_out(
    references: Sequence[Cells],
) -> Iterator[tuple[Cells, Cells]]:
    """Yield the size in cells of each picture, and the row and column of its first token.

    The next picture lies to the right of or below those before, wherever the whole becomes less
    long (ComfyUI `Flux._forward`, method "offset").
    """
    height, width = 0, 0
    for rows, columns in references:
        below = rows + height <= columns + width
        first = (height, 0) if below else (0, width)
        yield (rows, columns), (first[0] // PATCH, first[1] // PATCH)
        height, width = max(height, rows + first[0]), max(width, columns + first[1])


def side_by_side(latents: Sequence[Array]) -> Array:
    """Return the tokens of latents [1, channels, height, width] in one row, whatever their sizes.

    The result is [1, channels, 2, 2 * tokens]; the cells of a token stay beside one another.
    """
    rows: list[Array] = []
    for latent in latents:
        _, channels, height, width = latent.shape
        cut = latent.reshape(channels, height // PATCH, PATCH, width // PATCH * PATCH)
        rows.append(cut.transpose(0, 2, 1, 3).reshape(1, channels, PATCH, -1))
    return np.concatenate(rows, axis=3)
