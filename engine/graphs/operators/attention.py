"""Scaled dot-product attention, with or without the projections before it."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from backends.base import Array
from backends.forms import AttentionForm
from engine.graphs.builder import Value
from engine.graphs.operators import limits
from engine.graphs.operators.deferred_sums import MICROSOFT
from engine.graphs.operators.layers import LayerWriter


class Projections(msgspec.Struct, frozen=True):
    """The linear layers before attention: names of the query, key and value layers, and widths."""

    names: tuple[str, str, str]
    width: int
    # Width of the input of keys and values.
    source_width: int
    heads: int
    bias: bool = True

    @property
    def head_width(self) -> int:
        """The width of each head."""
        return self.width // self.heads


class Attended(msgspec.Struct, frozen=True):
    """Keys and values [batch, tokens, width] that queries attend to beside their source.

    The result is multiplied by `mask`, [1, queries, 1], unless it is "".
    """

    keys: Value
    values: Value
    width: int
    mask: Value = ""


class AttentionWriter(LayerWriter):
    """Attention over [batch, tokens, width]."""

    def attend(
        self,
        x: Value,
        source: Value,
        to: Projections,
        *,
        causal_over: int = 0,
        score_bias: Value | None = None,
        beside: Sequence[Attended] = (),
    ) -> Value:
        """Emit attention of `x` to `source`, which is `x` itself in self-attention.

        `causal_over` and `score_bias` are those of `attention`. The attention of the same queries
        to each of `beside` is added, where `source` is another than `x`.
        """
        packed = self.operators.attention is AttentionForm.PACKED and not to.bias
        # A branch is added to one projection, before it is packed with others.
        packed = packed and not self.has_branch(*to.names)
        if packed and not causal_over and limits.packs_heads(self.element, to.head_width):
            return self._attend_packed(x, source, to, beside)
        sources = ((x, to.width), (source, to.source_width), (source, to.source_width))
        q, k, v = (
            self.linear(given, name, (width, to.width), bias=to.bias)
            for name, (given, width) in zip(to.names, sources, strict=True)
        )
        mixed = self.attention(
            q, k, v, to.heads, to.head_width, causal_over=causal_over, score_bias=score_bias
        )
        return self.with_beside(mixed, q, to.heads, beside)

    def _attend_packed(
        self, x: Value, source: Value, to: Projections, beside: Sequence[Attended]
    ) -> Value:
        """Emit attention after packed projections: one product for q, k and v, or for k and v.

        In self-attention all three come from one product, else only keys and values.

        Results are [batch, tokens, heads, parts, head_width], as MultiHeadAttention takes them.
        """
        if x == source:
            whole = self._packed_product(x, to.names, to.width, to)
            return self.op("MultiHeadAttention", whole, domain=MICROSOFT, num_heads=to.heads)
        q = self.linear(x, to.names[0], (to.width, to.width), bias=False)
        inputs = (q, self._packed_product(source, to.names[1:], to.source_width, to))
        mixed = self.op("MultiHeadAttention", *inputs, domain=MICROSOFT, num_heads=to.heads)
        return self.with_beside(mixed, q, to.heads, beside)

    def with_beside(self, mixed: Value, q: Value, heads: int, beside: Sequence[Attended]) -> Value:
        """Add the attention of the queries to each of `beside`."""
        for prompt in beside:
            found = self.attention(q, prompt.keys, prompt.values, heads, prompt.width // heads)
            found = self.op("Mul", found, prompt.mask) if prompt.mask else found
            mixed = self.op("Add", mixed, found)
        return mixed

    def _packed_product(self, x: Value, names: Sequence[str], inner: int, to: Projections) -> Value:
        parts = len(names)
        weight = self.derived_weight(
            [f"{name}.weight" for name in names],
            (to.width, inner),
            (parts * to.width, inner),
            packed_per_head(to.heads),
            f"{parts}_of_{to.heads}_heads",
        )
        split = self.integers([0, 0, to.heads, parts, to.head_width])
        return self.op("Reshape", self.times_transposed(x, weight), split)

    def attention(
        self,
        q: Value,
        k: Value,
        v: Value,
        heads: int,
        head_width: int,
        *,
        causal_over: int = 0,
        score_bias: Value | None = None,
    ) -> Value:
        """Emit softmax(q k^T / sqrt(head_width)) v per head.

        Inputs and output are [batch, tokens, heads * head_width].

        With `causal_over`, the number of tokens, each attends only to itself and earlier ones; with
        0 each attends to all. `score_bias` is added to the scores, [batch, heads, queries, keys].
        """
        if score_bias is not None or not self._has_kernel(head_width):
            # A bias is rare, and its network so small that the form does not matter for speed.
            return self._primitive_attention(q, k, v, heads, head_width, causal_over, score_bias)
        match self.operators.attention:
            case AttentionForm.MULTI_HEAD | AttentionForm.PACKED:
                return self.op(
                    "MultiHeadAttention",
                    *(q, k, v),
                    domain=MICROSOFT,
                    num_heads=heads,
                    unidirectional=int(causal_over > 0),
                )
            case AttentionForm.STANDARD:
                return self.op(
                    "Attention",
                    *(q, k, v),
                    q_num_heads=heads,
                    kv_num_heads=heads,
                    is_causal=int(causal_over > 0),
                )
            case AttentionForm.PRIMITIVE:
                return self._primitive_attention(q, k, v, heads, head_width, causal_over)

    def _has_kernel(self, head_width: int) -> bool:
        kernels = self.operators.attention_kernels
        return kernels is None or kernels.serve(self.element, head_width)

    def _primitive_attention(
        self,
        q: Value,
        k: Value,
        v: Value,
        heads: int,
        head_width: int,
        causal_over: int,
        score_bias: Value | None = None,
    ) -> Value:
        scores = self._scores(q, k, heads, head_width)
        if causal_over:
            # Finite, so that a row never becomes inf - inf; it vanishes after the softmax.
            later = np.triu(np.full((causal_over, causal_over), -1e4), 1)
            scores = self.op("Add", scores, self.constant(later))
        if score_bias is not None:
            scores = self.op("Add", scores, score_bias)
        values = self._per_head(v, heads, head_width, [0, 2, 1, 3])
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), values)
        merged = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", merged, self.integers([0, 0, heads * head_width]))

    def attention_received(self, q: Value, k: Value, heads: int, head_width: int) -> Value:
        """Emit how much each token is attended to: [batch, tokens].

        That is the sum over all queries of softmax(q k^T / sqrt(head_width)), averaged over heads.
        """
        weights = self.op("Softmax", self._scores(q, k, heads, head_width), axis=-1)
        averaged = self.op("ReduceMean", weights, self.integers([1]), keepdims=0)
        return self.op("ReduceSum", averaged, self.integers([1]), keepdims=0)

    def _scores(self, q: Value, k: Value, heads: int, head_width: int) -> Value:
        """Emit q k^T / sqrt(head_width) of each head: [batch, heads, queries, keys]."""
        queries = self._per_head(q, heads, head_width, [0, 2, 1, 3])
        keys = self._per_head(k, heads, head_width, [0, 2, 3, 1])
        scores = self.op("MatMul", queries, keys)
        return self.op("Mul", scores, self.constant(head_width**-0.5))

    def _per_head(self, x: Value, heads: int, head_width: int, perm: list[int]) -> Value:
        per_head = self.op("Reshape", x, self.integers([0, 0, heads, head_width]))
        return self.op("Transpose", per_head, perm=perm)


def packed_per_head(heads: int) -> Callable[[Sequence[Array], Array], None]:
    """Return a function that interleaves the rows of several projections, head by head.

    The result has the first head of each projection, then the second head of each, and so on. A
    projection is [heads * head_width, in]; the result is [heads * parts * head_width, in].
    """

    def pack(weights: Sequence[Array], out: Array) -> None:
        by_head = out.reshape(heads, len(weights), -1, out.shape[1])
        for part, weight in enumerate(weights):
            by_head[:, part] = weight.reshape(heads, -1, out.shape[1])

    return pack
