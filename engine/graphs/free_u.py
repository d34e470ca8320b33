"""FreeU: stronger features of the way up, weaker low frequencies of its skips (Si et al. 2023).

The original code (github.com/ChenyangSi/FreeU) takes the Fourier transform of a skip, scales the
2x2 box around its centre and transforms back. Those are the frequencies 0 and -1 along each axis,
so the part that is scaled is a product with few vectors: no transform is needed, and each backend
has the operators.
"""

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# The inputs of a graph with FreeU: b1, b2, s1 and s2, and the waves along both axes of each level.
SCALES = "free_u"
ROWS, COLUMNS = "free_u_rows", "free_u_columns"
# Averages over 1, cosine and sine, then the three waves themselves.
_WAVES = 6
# Turns the coefficients of cosine and sine by a quarter: the product of two imaginary parts.
_QUARTER = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
# Keeps the scaled mean of equal features finite.
_LEAST_SPAN = 1e-12


class FreeU(msgspec.Struct, frozen=True):
    """A form of FreeU; its factors are inputs of the graph.

    `follows_mean`: the features are strengthened where their mean is high (version 2). `by_width`:
    its two stages are the layers 4 and 2 times as wide as the first, as in the original code,
    ComfyUI and A1111; else they are the two lowest blocks of the way up, as in diffusers.
    """

    follows_mean: bool
    by_width: bool

    def stage(self, block: int, width: int, first_width: int) -> int | None:
        """Return the stage, 0 or 1, of features of the way up; None for features left alone.

        `block` is the number of the block on the way up, `width` the number of channels.
        """
        if not self.by_width:
            return block if block < 2 else None
        return {4 * first_width: 0, 2 * first_width: 1}.get(width)


def waves(side: int) -> Array:
    """Return the vectors for an axis of `side` cells: float32 [6, side].

    Constant, cosine and sine of one period, divided by `side`, then the same undivided.
    """
    angles = 2 * np.pi * np.arange(side) / side
    periods = np.stack([np.ones(side), np.cos(angles), np.sin(angles)])
    if side == 1:
        periods[1:] = 0  # there is only one frequency
    return np.concatenate([periods / side, periods]).astype(np.float32)


def wave_inputs(level: int, size: tuple[int, int]) -> dict[str, Array]:
    """Return the inputs of waves for a level of a latent of this height and width, by name.

    A `level` has half the cells of the one before along each axis, rounded up.
    """
    names = zip((ROWS, COLUMNS), size, strict=True)
    return {f"{name}.{level}": waves(-(-side // 2**level)) for name, side in names}


class FreeUWriter:
    """Emits FreeU before the features of the way up are joined with a skip."""

    def __init__(self, g: GraphBuilder, form: FreeU, first_width: int) -> None:
        self._g, self._form, self._first_width = g, form, first_width

    def write(
        self, x: Value, width: int, skip: Value, place: tuple[int, int]
    ) -> tuple[Value, Value]:
        """Return the features and their skip with FreeU; unchanged where it leaves them alone.

        `place` has the block on the way up and its level: the number of halvings.
        """
        block, level = place
        stage = self._form.stage(block, width, self._first_width)
        if stage is None:
            return x, skip
        return self._strengthened(x, width, stage), self._filtered(skip, level, stage + 2)

    def _strengthened(self, x: Value, width: int, place: int) -> Value:
        """Multiply the first half of the channels by b."""
        g = self._g
        half = np.zeros((1, width, 1, 1) if g.planes else (1, 1, 1, width))
        half.reshape(-1)[: width // 2] = 1
        more = g.op("Mul", g.constant(half), self._beyond_one(place))
        if self._form.follows_mean:
            more = g.op("Mul", more, self._scaled_mean(x))
        return g.op("Mul", x, g.op("Add", more, g.constant(1.0)))

    def _scaled_mean(self, x: Value) -> Value:
        """Emit the mean of each cell's channels, scaled to 0 at the lowest and 1 at the highest."""
        g = self._g
        channels = g.integers([1 if g.planes else 3])
        mean = g.op("ReduceMean", x, channels, keepdims=1)
        mean = mean if g.element is DType.F32 else g.cast(mean, DType.F32)
        cells = g.integers([1, 2, 3])
        least = g.op("ReduceMin", mean, cells, keepdims=1)
        span = g.op("Sub", g.op("ReduceMax", mean, cells, keepdims=1), least)
        span = g.op("Add", span, g.constant(_LEAST_SPAN, DType.F32))
        return g.cast_to_element(g.op("Div", g.op("Sub", mean, least), span))

    def _filtered(self, skip: Value, level: int, place: int) -> Value:
        """Add s - 1 times the skip's lowest frequencies."""
        g, planes = self._g, self._g.to_planes(skip)
        rows_in, rows_out = self._waves(ROWS, level)
        columns_in, columns_out = self._waves(COLUMNS, level)
        found = g.op("MatMul", rows_in, planes)
        found = g.op("MatMul", found, g.op("Transpose", columns_in, perm=[1, 0]))
        turned = g.op("MatMul", g.constant(_QUARTER), found)
        turned = g.op("MatMul", turned, g.constant(np.transpose(_QUARTER)))
        found = g.op("Sub", found, turned)
        low = g.op("MatMul", g.op("Transpose", rows_out, perm=[1, 0]), found)
        low = g.op("MatMul", low, columns_out)
        low = g.op("Mul", low, self._beyond_one(place))
        return g.from_planes(g.op("Add", planes, low))

    def _waves(self, name: str, level: int) -> tuple[Value, Value]:
        """Return the averages over waves and the waves: [3, side] each."""
        g, label = self._g, f"{name}.{level}"
        both = g.cast_to_element(g.input_once(label, DType.F32, (_WAVES, f"{label}_side")))
        return self._part(both, 0, 3), self._part(both, 3, _WAVES)

    def _beyond_one(self, place: int) -> Value:
        """Return one of the four factors, less 1: [1]."""
        g = self._g
        scales = g.cast_to_element(g.input_once(SCALES, DType.F32, (4,)))
        return g.op("Sub", self._part(scales, place, place + 1), g.constant(1.0))

    def _part(self, x: Value, start: int, end: int) -> Value:
        g = self._g
        return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([0]))
