"""Layers of transformers and text encoders: linear layers, nonlinearities, layer norm."""

import math
from typing import NamedTuple

import numpy as np

from backends.base import DType
from backends.forms import GegluForm, GeluForm, LayerNormForm, LinearForm
from engine.graphs.builder import Value
from engine.graphs.operators import limits
from engine.graphs.operators.deferred_sums import MICROSOFT, Sum
from engine.graphs.operators.side_branches import BranchWriter
from engine.weights.packing import Packing, packing_of
from engine.weights.stored import PackableWeight


class _LinearWeight(NamedTuple):
    """The inputs that hold a weight: one, or those of MatMulNBits where it is in blocks."""

    values: tuple[Value, ...]
    packing: Packing | None = None


class LayerWriter(BranchWriter):
    """Layers over [batch, tokens, width] with any number of leading axes."""

    def linear(self, x: Value, name: str, widths: tuple[int, int], *, bias: bool = True) -> Value:
        """Emit x W^T + b from widths[0] to widths[1]; W is [out, in], as in every checkpoint."""
        weight = self._linear_weight(name, widths)
        shift = self.weight(f"{name}.bias", (widths[1],)) if bias else ""
        held = self.holds_sums and shift
        x = self.settled(x) if held else x

        def product(shift: Value) -> Value:
            y = self.beside_linear(self._times(x, weight, widths), x, name, widths)
            return self.op("Add", y, shift) if shift else y

        return self.hold(Sum(product, shift, linear=True)) if held else product(shift)

    def _linear_weight(
        self, name: str, widths: tuple[int, int], rows: tuple[int, int] | None = None
    ) -> _LinearWeight:
        """Use the weight of a linear layer, or some of its rows; in blocks where it can be."""
        shape, part = (widths[1], widths[0]), f"{name}.weight"
        source = self.source(part, shape)
        packing = packing_of(source, self.operators.blocks)
        if packing is None or not isinstance(source, PackableWeight):
            plain = self.weight_rows(part, shape, *rows) if rows else self.weight(part, shape)
            return _LinearWeight((plain,))
        if rows is not None:
            source, part = source.rows(*rows), f"{part}[{rows[0]}:{rows[1]}]"
        return _LinearWeight(self.packed_weight(source, packing, part), packing)

    def _times(self, x: Value, weight: _LinearWeight, widths: tuple[int, int]) -> Value:
        """Emit x W^T for the weight of a linear layer."""
        if weight.packing is None:
            return self.times_transposed(x, *weight.values)
        return self.op(
            "MatMulNBits",
            x,
            *weight.values,
            domain=MICROSOFT,
            N=widths[1],
            K=widths[0],
            bits=weight.packing.bits,
            block_size=weight.packing.block,
        )

    def times_transposed(self, x: Value, weight: Value) -> Value:
        """Emit x W^T."""
        if self.operators.linear is LinearForm.FUSED_MATMUL:
            return self.op("FusedMatMul", x, weight, domain=MICROSOFT, transB=1)
        return self.op("MatMul", x, self.op("Transpose", weight, perm=[1, 0]))

    def geglu(self, x: Value, name: str, widths: tuple[int, int]) -> Value:
        """Emit value * gelu(gate), both from one linear layer to 2 * widths[1] (Shazeer 2020)."""
        inner, outer = widths
        source = self.source(f"{name}.weight", (2 * outer, inner))
        is_whole = packing_of(source, self.operators.blocks) is None
        fused = is_whole and self.operators.geglu is GegluForm.BIAS_SPLIT
        if fused and limits.splits_gelu(2 * outer):
            weight = self.weight(f"{name}.weight", (2 * outer, inner))
            shift = self.weight(f"{name}.bias", (2 * outer,))
            both = self.times_transposed(x, weight)
            both = self.beside_linear(both, x, name, (inner, 2 * outer))
            return self.op("BiasSplitGelu", both, shift, domain=MICROSOFT)
        return self._geglu_of_halves(x, name, widths)

    def _geglu_of_halves(self, x: Value, name: str, widths: tuple[int, int]) -> Value:
        """Emit value and gate as separate products, so that no copy is needed to split them.

        Each uses half of the layer's rows, which are not copied.
        """
        inner, outer = widths
        halves: list[Value] = []
        narrow = self.narrowed(x, name, inner) if self.has_branch(name) else ""
        for start in (0, outer):
            rows = (start, start + outer)
            weight = self._linear_weight(name, (inner, 2 * outer), rows)
            shift = self.weight_rows(f"{name}.bias", (2 * outer,), *rows)
            y = self._times(x, weight, widths)
            if narrow:
                y = self.op("Add", y, self.widened(narrow, name, 2 * outer, rows))
            halves.append(self.op("Add", y, shift))
        value, gate = halves
        return self.op("Mul", value, self.gelu(gate))

    def silu(self, x: Value) -> Value:
        """Emit x * sigmoid(x) (Elfwing et al. 2017)."""
        return self.op("Mul", x, self.op("Sigmoid", x))

    def quick_gelu(self, x: Value) -> Value:
        """Emit x * sigmoid(1.702 x), the approximation in the training of OpenAI's CLIP."""
        return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.constant(1.702))))

    def gelu(self, x: Value) -> Value:
        """Emit the exact GELU, x * Phi(x) (Hendrycks & Gimpel 2016)."""
        if self.operators.gelu is GeluForm.STANDARD:
            return self.op("Gelu", x)
        erf = self.op("Erf", self.op("Mul", x, self.constant(math.sqrt(0.5))))
        halved = self.op("Mul", x, self.constant(0.5))
        return self.op("Mul", halved, self.op("Add", erf, self.constant(1.0)))

    def layer_norm(self, x: Value, name: str, width: int, epsilon: float = 1e-5) -> Value:
        """Emit layer normalisation over the last axis (Ba et al. 2016)."""
        scale = self.weight(f"{name}.weight", (width,))
        shift = self.weight(f"{name}.bias", (width,))
        total = self.held_residual(x)
        if total is None or self.operators.layer_norm is LayerNormForm.STANDARD:
            return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=epsilon)
        normal, whole = self.outputs(
            "SkipLayerNormalization",
            *(total.product(""), total.skip, scale, shift),
            *([total.bias] if total.bias else []),
            places=(0, 3),
            domain=MICROSOFT,
            epsilon=epsilon,
        )
        self.take(x, whole)
        return normal

    def gelu_tanh(self, x: Value) -> Value:
        """Emit GELU by a hyperbolic tangent (Hendrycks & Gimpel 2016, section 2).

        torch's `gelu(approximate="tanh")`, and "gelu_new" in transformers.
        """
        if self.operators.gelu is GeluForm.STANDARD:
            return self.op("Gelu", x, approximate="tanh")
        cubed = self.op("Mul", self.op("Mul", self.op("Mul", x, x), x), self.constant(0.044715))
        inner = self.op("Mul", self.op("Add", x, cubed), self.constant(math.sqrt(2 / math.pi)))
        halved = self.op("Mul", x, self.constant(0.5))
        return self.op("Mul", halved, self.op("Add", self.op("Tanh", inner), self.constant(1.0)))

    def plain_layer_norm(self, x: Value, width: int, epsilon: float) -> Value:
        """Emit layer normalisation over the last axis without weights of its own."""
        scale = self.constant(np.ones(width))
        return self.op("LayerNormalization", x, scale, axis=-1, epsilon=epsilon)

    def rms_norm(self, x: Value, name: str, width: int, epsilon: float = 1e-6) -> Value:
        """Emit x / sqrt(mean(x^2) + epsilon) over the last axis, times a weight.

        Zhang & Sennrich (2019). Squares exceed float16's range, so they are in float32.
        """
        wide = self.element is DType.F16
        h = self.cast(x, DType.F32) if wide else x
        element = DType.F32 if wide else self.element
        squares = self.op("Pow", h, self.constant(2.0, element))
        mean = self.op("ReduceMean", squares, self.integers([-1]), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(epsilon, element)))
        normal = self.op("Mul", h, self.op("Div", self.constant(1.0, element), root))
        normal = self.cast(normal, self.element) if wide else normal
        return self.op("Mul", normal, self.weight(f"{name}.weight", (width,)))

    def repeat_batch(self, x: Value, rank: int, times: Value) -> Value:
        """Repeat the whole batch of `x`, of `rank` axes, `times` (int64 [1]) times."""
        repeats = self.op("Concat", times, self.integers([1] * (rank - 1)), axis=0)
        return self.op("Tile", x, repeats)
