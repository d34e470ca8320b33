"""Side branches of linear layers and convolutions: low-rank products that are added to them."""

from collections.abc import Mapping, Sequence

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators.deferred_sums import MICROSOFT, SumWriter
from engine.weights.side_branches import (
    DOWN,
    DOWN_LAST,
    DOWN_PLANES,
    STRENGTHS,
    UP,
    UP_PLANES,
    has_branches,
)

_POINTWISE = {"kernel_shape": (1, 1), "strides": (1, 1), "pads": (0, 0, 0, 0)}


class BranchWriter(SumWriter):
    """Writes the side branches of the layers that have one; see `engine.weights.side_branches`."""

    def has_branch(self, *names: str) -> bool:
        """Return True if one of these layers has a side branch."""
        return has_branches(self.branches, *names)

    def narrowed(self, x: Value, name: str, inner: int) -> Value:
        """Emit the first product of a linear layer's branch: [..., inner] to [..., rank]."""
        down = self._factor(f"{name}{DOWN}", (inner, self._rank))
        return self.op("MatMul", x, self.cast_to_element(down))

    def widened(
        self, narrow: Value, name: str, outer: int, rows: tuple[int, int] | None = None
    ) -> Value:
        """Emit the second product of a branch: [..., rank] to [..., outer], or to some rows."""
        up = self._scaled(f"{name}{UP}", (self._rank, outer), (self._rank, 1))
        if rows is not None:
            ends = (self.integers([rows[0]]), self.integers([rows[1]]), self.integers([1]))
            up = self.op("Slice", up, *ends)
        return self.op("MatMul", narrow, self.cast_to_element(up))

    def beside_linear(self, y: Value, x: Value, name: str, widths: tuple[int, int]) -> Value:
        """Add the branch of a linear layer of `x` to its output `y`, if it has one."""
        if not self.has_branch(name):
            return y
        return self.op("Add", y, self.widened(self.narrowed(x, name, widths[0]), name, widths[1]))

    def beside_conv(
        self,
        y: Value,
        x: Value,
        name: str,
        channels: tuple[int, int],
        window: Mapping[str, Sequence[int]],
        *,
        planes: bool,
    ) -> Value:
        """Add the branch of a convolution of `x` to its output `y`, if it has one.

        `window` has the convolution's attributes: its kernel, strides and pads.
        """
        if not self.has_branch(name):
            return y
        (inner, outer), rank, kernel = channels, self._rank, tuple(window["kernel_shape"])
        if planes:
            down = self._factor(f"{name}{DOWN_PLANES}", (rank, inner, *kernel))
            narrow = self.op("Conv", x, self.cast_to_element(down), domain="", **window)
            up = self._scaled(f"{name}{UP_PLANES}", (outer, rank, 1, 1), (1, rank, 1, 1))
            wide = self.op("Conv", narrow, self.cast_to_element(up), domain="", **_POINTWISE)
        else:
            down = self._factor(f"{name}{DOWN_LAST}", (rank, *kernel, inner))
            down = self.cast_to_element(down)
            narrow = self.op("NhwcConv", x, down, domain=MICROSOFT, **window)
            wide = self.widened(narrow, name, outer)
        return self.op("Add", y, wide)

    @property
    def _rank(self) -> int:
        assert self.branches is not None, "a layer has a branch"
        return self.branches.rank

    def _factor(self, name: str, shape: tuple[int, ...]) -> Value:
        self.branched.add(name.rpartition(".")[0])
        return self.input_once(name, DType.F32, shape)

    def _scaled(self, name: str, shape: tuple[int, ...], along: tuple[int, ...]) -> Value:
        """Return a factor times the strength at each rank, in float32: small, and rounded once."""
        strengths = self.input_once(STRENGTHS, DType.F32, (self._rank,))
        strengths = self.op("Reshape", strengths, self.integers(along))
        return self.op("Mul", self._factor(name, shape), strengths)
