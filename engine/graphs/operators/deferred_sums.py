"""Deferred sums: additions that are written only when the node that reads the sum is known.

A network writes `x = g.add(branch, x)` and then normalises x. Where the operator set has a
normalisation that also adds, one node does both and outputs the sum too; where another node reads
the sum first, it is written as a plain addition.
"""

from collections.abc import Callable, Mapping

import msgspec

from backends.base import DType, FileSlice, OperatorSet, Precision
from backends.forms import LayerNormForm, Layout, ResidualForm
from engine.graphs.builder import Attribute, NodeWriter, Value
from engine.weights.side_branches import SideBranches
from engine.weights.sources import WeightSource

MICROSOFT = "com.microsoft"


class Sum(msgspec.Struct, frozen=True):
    """A deferred sum, product + bias + skip; bias has one number per channel.

    `product` writes the product, plus the bias it is given. bias and skip are "" for none.
    """

    product: Callable[[Value], Value]
    bias: Value = ""
    skip: Value = ""
    # True where the product is a linear layer's, [batch, tokens, width].
    linear: bool = False


class SumWriter(NodeWriter):
    """Writes nodes; a deferred sum is written at the latest before the node that reads it."""

    def __init__(
        self,
        name: str,
        weights: Mapping[str, FileSlice | WeightSource],
        operators: OperatorSet,
        element: DType,
        precision: Precision,
        branches: SideBranches | None = None,
    ) -> None:
        super().__init__(name, weights, operators, element, precision, branches)
        self._held: dict[Value, Sum] = {}
        self._settled: dict[Value, Value] = {}
        # Operator forms that take sums in; without them each sum is written at once.
        self.holds_sums = (
            operators.layout is Layout.CHANNELS_LAST
            or operators.layer_norm is LayerNormForm.SKIP
            or operators.residual is ResidualForm.BIAS_ADD
        )

    def op(self, kind: str, *inputs: Value, domain: str = "", **attributes: Attribute) -> Value:
        """Emit a node with one output, after the deferred sums that it reads."""
        return super().op(kind, *map(self.settled, inputs), domain=domain, **attributes)

    def output(self, value: Value, name: str, dtype: DType, shape: tuple[int | str, ...]) -> None:
        """Declare an output of the graph, cast from the graph's element type to `dtype`."""
        super().output(self.settled(value), name, dtype, shape)

    def add(self, x: Value, y: Value) -> Value:
        """Emit or defer x + y, which have the same shape, such as a residual and its branch."""
        if not self.holds_sums:
            return self.op("Add", x, y)
        for product, skip in ((x, y), (y, x)):
            held = self.held(product)
            if held is not None and not held.skip:
                return self.hold(msgspec.structs.replace(held, skip=self.settled(skip)))
        whole = self.settled(x)
        return self.hold(Sum(lambda _: whole, skip=self.settled(y)))

    def hold(self, total: Sum) -> Value:
        """Defer a sum and return its name."""
        name = f"sum_{len(self._held) + len(self._settled)}"
        self._held[name] = total
        return name

    def held(self, x: Value) -> Sum | None:
        """Return the deferred sum named `x`, or None."""
        return self._held.get(x)

    def held_residual(self, x: Value) -> Sum | None:
        """Return the deferred sum named `x` if it has a residual, or None."""
        total = self.held(x)
        return total if total is not None and total.skip else None

    def take(self, x: Value, whole: Value) -> None:
        """Record that a node took in the deferred sum `x` and outputs it as `whole`."""
        del self._held[x]
        self._settled[x] = whole

    def settled(self, x: Value) -> Value:
        """Return the value `x`; a deferred sum is written first."""
        if x in self._held:
            self.take(x, self._written(self._held[x]))
        return self._settled.get(x, x)

    def _written(self, total: Sum) -> Value:
        if not total.skip:
            return total.product(total.bias)
        if total.linear and total.bias and self.operators.residual is ResidualForm.BIAS_ADD:
            product = total.product("")
            return self.op("BiasAdd", product, total.bias, total.skip, domain=MICROSOFT)
        return self.op("Add", total.product(total.bias), total.skip)
