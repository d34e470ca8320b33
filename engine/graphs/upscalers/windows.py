"""Windows of a picture, within which attention looks: cutting, shifting, masks and biases.

Source: github.com/microsoft/Swin-Transformer (`models/swin_transformer.py`), whose windows are
squares of neighbours. MaxViT's grid and OmniSR's channel attention take pixels that lie apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backends.base import Array
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# Added to the scores of pixels that are neighbours only by the cyclic shift.
_MASKED = -100.0
_BEYOND = 2**31 - 1
# The longest side in pixels of a picture whose places are counted.
MOST_SIDE = 8192


@dataclass(frozen=True)
class Windows:
    """Windows over pictures whose height and width, int64 [1], are multiples of `side`.

    Each side of the picture is taken as an outer times an inner index, and `inner` says which of
    the two has `side` values. A window is the pixels that share the outer indices, or with `apart`
    the inner ones. Pictures are [1, C, H, W], or [1, H, W, C] with `channels_last`.
    """

    g: GraphBuilder
    height: Value
    width: Value
    side: int
    inner: bool = True
    apart: bool = False
    channels_last: bool = False

    def tokens(self, x: Value, channels: int) -> Value:
        """Emit a picture as [windows, pixels, C]."""
        g, (windows, pixels, channel) = self.g, self._axes
        split = g.op("Reshape", x, self._joined(self._sizes(channels)))
        by_window = g.op("Transpose", split, perm=[*windows, *pixels, channel])
        return g.op("Reshape", by_window, self._flat(channels))

    def from_tokens(self, x: Value, channels: int) -> Value:
        """Emit [windows, pixels, C] as a picture."""
        windows, pixels, channel = self._axes
        return self._whole(x, (*windows, *pixels, channel), channels)

    def by_head(self, x: Value, channels: int, heads: int) -> Value:
        """Emit a picture as [windows, heads, C / heads, pixels]."""
        g, (windows, pixels, channel) = self.g, self._axes
        split = g.op("Reshape", x, self._joined(self._sizes(channels)))
        by_window = g.op("Transpose", split, perm=[*windows, channel, *pixels])
        shape = self._joined([self._count, g.integers([heads, channels // heads, -1])])
        return g.op("Reshape", by_window, shape)

    def from_by_head(self, x: Value, channels: int) -> Value:
        """Emit [windows, heads, C / heads, pixels] as a picture."""
        windows, pixels, channel = self._axes
        return self._whole(x, (*windows, channel, *pixels), channels)

    def shifted(self, x: Value, by: int) -> Value:
        """Emit pictures [1, H, W, C] shifted cyclically by so many pixels up and to the left."""
        g = self.g
        for axis in (1, 2):
            middle, along = g.integers([by]), g.integers([axis])
            rest = g.op("Slice", x, middle, g.integers([_BEYOND]), along)
            first = g.op("Slice", x, g.integers([0 if by > 0 else -_BEYOND]), middle, along)
            x = g.op("Concat", rest, first, axis=axis)
        return x

    def mask(self, shift: int) -> Value:
        """Emit what is added to scores after `shifted`: [windows, 1, pixels, pixels].

        Pixels that come from opposite sides of the picture do not attend to each other. Sides are
        at most `MOST_SIDE` pixels.
        """
        g, pixels = self.g, self.side**2
        rows, columns = (
            g.op("Reshape", self._region(length, shift), g.integers(shape))
            for length, shape in ((self.height, [1, -1, 1, 1]), (self.width, [1, 1, -1, 1]))
        )
        regions = g.op("Add", g.op("Mul", rows, g.constant(3.0)), columns)
        of_windows = self.tokens(regions, 1)
        queries = g.op("Reshape", of_windows, g.integers([-1, 1, pixels, 1]))
        keys = g.op("Reshape", of_windows, g.integers([-1, 1, 1, pixels]))
        apart = g.op("Abs", g.op("Add", queries, g.op("Mul", keys, g.constant(-1.0))))
        # Where it is more than one, what is left of the pixel after the softmax is nothing, too.
        return g.op("Mul", apart, g.constant(_MASKED))

    def _region(self, length: Value, shift: int) -> Value:
        """Emit 0, 1 or 2 for each pixel along a side: whole windows, the last one and its shift.

        These are the last numbers of a table, which every runtime can take.
        """
        from_end = np.arange(MOST_SIDE)[::-1]
        table = self.g.constant((from_end < self.side).astype(int) + (from_end < shift))
        start = self.g.op("Add", self.g.op("Mul", length, self.g.integers([-1])), self._most)
        return self.g.op("Slice", table, start, self._most, self.g.integers([0]))

    @property
    def _most(self) -> Value:
        return self.g.integers([MOST_SIDE])

    @cached_property
    def _axes(self) -> tuple[tuple[int, int], tuple[int, int], int]:
        """The axes of windows, of pixels and of channels in a picture that is split."""
        first = 0 if self.channels_last else 1
        outer, inner = (first, first + 2), (first + 1, first + 3)
        windows, pixels = (inner, outer) if self.apart else (outer, inner)
        return windows, pixels, 4 if self.channels_last else 0

    def _sizes(self, channels: int) -> list[Value]:
        """Return the sizes of a split picture, each int64 [1]."""
        g, side = self.g, self.g.integers([self.side])
        sizes: list[Value] = []
        for length in (self.height, self.width):
            count = g.op("Div", length, side)
            sizes += [count, side] if self.inner else [side, count]
        channel = g.integers([channels])
        return [*sizes, channel] if self.channels_last else [channel, *sizes]

    def _flat(self, channels: int) -> Value:
        """Return the shape [windows, pixels, C]."""
        return self._joined([self._count, self.g.integers([-1, channels])])

    @property
    def _count(self) -> Value:
        """The number of windows, int64 [1]."""
        g, side = self.g, self.g.integers([self.side])
        if self.apart == self.inner:
            return g.integers([self.side**2])
        return g.op("Mul", *(g.op("Div", length, side) for length in (self.height, self.width)))

    def _whole(self, x: Value, order: Sequence[int], channels: int) -> Value:
        """Emit a picture of its windows; `order` has the axes of a split picture as in x."""
        g, sizes = self.g, self._sizes(channels)
        split = g.op("Reshape", x, self._joined([sizes[axis] for axis in order]))
        ordered = g.op("Transpose", split, perm=[order.index(axis) for axis in range(5)])
        channel = g.integers([channels])
        places = (self.height, self.width)
        shape = (*places, channel) if self.channels_last else (channel, *places)
        return g.op("Reshape", ordered, self._joined([g.integers([1]), *shape]))

    def _joined(self, sizes: Sequence[Value]) -> Value:
        return self.g.op("Concat", *sizes, axis=0)


def relative_bias(g: GraphBuilder, name: str, side: int, heads: int) -> Value:
    """Use a table [(2 side - 1)^2, heads] as the bias of scores, [1, heads, side^2, side^2]."""
    pixels = side**2

    def derive(tables: Sequence[Array], out: Array) -> None:
        out[...] = tables[0][relative_places(side)].transpose(2, 0, 1)

    shape = ((2 * side - 1) ** 2, heads)
    label = f"bias of windows of {side}"
    return g.derived_weight([name], shape, (1, heads, pixels, pixels), derive, label)


def relative_places(side: int) -> Array:
    """Return for each pair of a window's pixels the row of its distance in the table."""
    places = np.indices((side, side)).reshape(2, -1)
    down, across = places[:, :, None] - places[:, None, :] + side - 1
    return down * (2 * side - 1) + across
