"""Inputs by which the residuals of control networks are weighted, masked and added."""

from collections.abc import Callable, Sequence

import numpy as np

from backends.base import Array, TensorSpec, size_of
from engine.graphs.control_residuals import BEFORE, MASK, ROWS, WEIGHTS


def residual_inputs(rows: Sequence[int], weights: Array) -> dict[str, Array]:
    """Return inputs: the context of each row of the denoiser, and weights [rows, residuals]."""
    shaped = np.ascontiguousarray(weights, np.float32)[:, :, np.newaxis, np.newaxis]
    return {ROWS: np.asarray(rows, np.int64), WEIGHTS: shaped}


def _everywhere(height: int, width: int) -> Array:
    return np.ones((height, width), np.float32)


def mask_inputs(
    inputs: Sequence[TensorSpec],
    cells: tuple[int, int],
    mask: Callable[[int, int], Array] = _everywhere,
) -> dict[str, Array]:
    """Return the masks among a network's inputs, for its height and width in cells.

    `mask` makes one of a height and width, float32 in [0, 1]: without it the network acts
    everywhere.
    """
    sides = {"height": cells[0], "width": cells[1]}
    return {
        spec.name: mask(*(size_of(side, sides) for side in spec.shape[2:]))[None, None]
        for spec in inputs
        if spec.name.startswith(MASK)
    }


def before(output: str) -> str:
    """Return the name of the input to which an output of that name is added."""
    return f"{BEFORE}.{output.rpartition('.')[2]}"
