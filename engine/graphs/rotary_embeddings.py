"""Rotary position embeddings (Su et al. 2021, RoFormer): the rotation of queries and keys."""

import numpy as np
from numpy.typing import NDArray

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder


def rotary_angles(
    positions: NDArray[np.float64], width: int, base: float, *, doubled: bool = True
) -> NDArray[np.float64]:
    """Return the angles in radians by which a head is rotated at each position: [positions, width].

    With `doubled` each angle stands twice in a row, for a pair of neighbours; else the second half
    repeats the first, for numbers half a width apart.
    """
    found = np.outer(positions, base ** (-np.arange(0, width, 2) / width))
    return np.repeat(found, 2, axis=1) if doubled else np.concatenate([found, found], axis=1)


def rotated_neighbours(
    g: GraphBuilder, x: Value, heads: int, head_width: int, cosines: Value, sines: Value
) -> Value:
    """Emit the rotation of each pair of neighbours (a, b): (a cos - b sin, b cos + a sin).

    `x` is [batch, tokens, heads, head width]; cosines and sines fit it by broadcasting.
    """
    split = g.op("Reshape", x, g.integers([0, 0, heads, head_width // 2, 2]))
    first, second = (_cut(g, split, i, i + 1, 4) for i in (0, 1))
    crossed = g.op("Concat", g.op("Neg", second), first, axis=4)
    crossed = g.op("Reshape", crossed, g.integers([0, 0, heads, head_width]))
    return g.op("Add", g.op("Mul", x, cosines), g.op("Mul", crossed, sines))


def rotated_halves(
    g: GraphBuilder, x: Value, head_width: int, cosines: Value, sines: Value
) -> Value:
    """Emit the rotation of pairs that lie half a head apart; see `rotated_neighbours`."""
    half = head_width // 2
    first, second = _cut(g, x, 0, half, 3), _cut(g, x, half, head_width, 3)
    crossed = g.op("Concat", g.op("Neg", second), first, axis=3)
    return g.op("Add", g.op("Mul", x, cosines), g.op("Mul", crossed, sines))


def _cut(g: GraphBuilder, x: Value, start: int, end: int, axis: int) -> Value:
    return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([axis]))
