"""Residuals of control networks as a denoiser takes them, made where the networks compute.

No residual crosses between a graphics card and main memory: a network weights and masks its own,
repeats them for the rows that the denoiser evaluates, and adds those of the network before it.
"""

from collections.abc import Sequence

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# The names of inputs; the last two before a level's and a residual's number.
ROWS, WEIGHTS = "row_contexts", "residual_weights"
MASK, BEFORE = "residual_mask", "before"


class ResidualWriter:
    """Emits the end of a control network, from its residuals for each context.

    Inputs: row_contexts int64 [rows], for each row of the denoiser the context whose residuals it
    gets; residual_weights float32 [rows, residuals, 1, 1]; residual_mask.n float32 [1, 1, height /
    2^n, width / 2^n], 1 where the network acts; before.0 to before.N, optional: the outputs of
    another network, to which its own are added. `halvings` has n for each residual. Outputs: the
    residuals float32 [rows, channels, height / 2^n, width / 2^n], named `name` and a number.
    """

    def __init__(self, g: GraphBuilder, name: str, halvings: Sequence[int]) -> None:
        self._g, self._name, self._halvings = g, name, halvings
        self._rows = g.input(ROWS, DType.I64, ("rows",))
        self._weights = g.input(WEIGHTS, DType.F32, ("rows", len(halvings), 1, 1))

    def sides(self, number: int) -> tuple[str, str]:
        """Return the height and width of a residual, from those of the latent."""
        part = 1 << self._halvings[number]
        return ("height", "width") if part == 1 else (f"height/{part}", f"width/{part}")

    def write(self, residual: Value, number: int, width: int, dtype: DType) -> None:
        """Declare the output of a residual of this element type: [contexts, width, ...]."""
        g, sides = self._g, self.sides(number)
        name = f"{MASK}.{self._halvings[number]}"
        mask = g.input_once(name, DType.F32, (1, 1, *sides))
        span = (g.integers([end]) for end in (number, number + 1, 1))
        weight = g.op("Slice", self._weights, *span)
        x = g.op("Gather", residual, self._rows, axis=0)
        x = x if dtype is DType.F32 else g.cast(x, DType.F32)
        x = g.op("Mul", x, g.op("Mul", weight, mask))
        shape = ("rows", width, *sides)
        before = g.input(f"{BEFORE}.{number}", DType.F32, shape, optional=True)
        x = g.op("Add", x, before)
        g.output(x, f"{self._name}.{number}", DType.F32, shape)
