"""Attention whose scores get a bias that is a product of a query's number and a key's.

A runtime whose fused attention takes queries and keys that are wider than values has both numbers
beside those of each head: no scores are held, [contexts, heads, queries, keys]. On others the bias
is added to scores.
"""

import msgspec

from backends.forms import AttentionForm
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.deferred_sums import MICROSOFT


class _Beside(msgspec.Struct, frozen=True):
    """Numbers that stand beside those of each head: [contexts, positions, heads, 1]."""

    queries: Value
    keys: Value


class ProductBias:
    """Emits attention with one bias; what all of it shares is emitted once.

    `queries` is [contexts, 1, positions, 1], `keys` [contexts, 1, 1, positions].
    """

    def __init__(
        self, g: GraphBuilder, queries: Value, keys: Value, heads: int, head_width: int
    ) -> None:
        self._g, self._heads, self._head_width = g, heads, head_width
        self._beside: _Beside | None = None
        operators = g.operators
        if operators.wide_keys and operators.attention is AttentionForm.MULTI_HEAD:
            # Scores are divided by this afterwards, those of the two numbers too.
            grown = g.op("Mul", keys, g.constant(head_width**0.5))
            self._beside = _Beside(self._by_head(queries), self._by_head(grown))
        else:
            self._bias = g.op("Mul", queries, keys)

    def attention(self, q: Value, k: Value, v: Value) -> Value:
        """Emit attention; all are [contexts, positions, width]."""
        g, heads = self._g, self._heads
        if self._beside is None:
            return g.attention(q, k, v, heads, self._head_width, score_bias=self._bias)
        return g.op(
            "MultiHeadAttention",
            *(self._widened(q, self._beside.queries), self._widened(k, self._beside.keys), v),
            domain=MICROSOFT,
            num_heads=heads,
            scale=self._head_width**-0.5,
        )

    def _by_head(self, numbers: Value) -> Value:
        g = self._g
        scalars = g.op("Reshape", numbers, g.integers([0, -1, 1, 1]))
        return g.op("Tile", scalars, g.integers([1, 1, self._heads, 1]))

    def _widened(self, x: Value, beside: Value) -> Value:
        g, heads, width = self._g, self._heads, self._head_width
        split = g.op("Reshape", x, g.integers([0, 0, heads, width]))
        joined = g.op("Concat", split, beside, axis=-1)
        return g.op("Reshape", joined, g.integers([0, 0, heads * (width + 1)]))
