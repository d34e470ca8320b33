"""Residuals of control networks as a denoiser takes them, made where the networks compute.

No residual crosses between a graphics card and main memory: a network weights and masks its own,
repeats them for the rows that the denoiser evaluates, and adds those of the network before it.
"""

from collections.abc import Sequence

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# The names of inputs; the last two before a level's and a residual's number.
ROWS, WEIGHTS = "row_contexts", "residual_weights"
MASK, BEFORE = "residual_mask", "before"
# The end of an axis, as ONNX's Slice has it.
_END = 2**62


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


class TokenResidualForm(msgspec.Struct, frozen=True):
    """The residuals of a network of double and single blocks, and the blocks that they are for.

    There are `double` and `single` of them. Each is for several of the transformer's blocks that
    follow one another, or those for double blocks are for all of them `in_turn`.
    """

    double: int
    single: int
    in_turn: bool = False

    @property
    def name(self) -> str:
        """The beginning of the names of its inputs and outputs."""
        turns = "_in_turn" if self.in_turn else ""
        return f"tokens_{self.double}_{self.single}{turns}"

    def of_double(self, block: int, blocks: int) -> int | None:
        """Return the number of the residual for one of `blocks` double blocks; None without."""
        if not self.double:
            return None
        return block % self.double if self.in_turn else block // -(-blocks // self.double)

    def of_single(self, block: int, blocks: int) -> int | None:
        """Return the number of the residual for one of `blocks` single blocks; None without."""
        return self.double + block // -(-blocks // self.single) if self.single else None


class JointForm(TokenResidualForm, frozen=True):
    """The residuals of a network of joint blocks, each for as many of the transformer's blocks.

    The last of those, after which the text does not go on, gets one only if they go `to_last`.
    """

    to_last: bool = False

    @property
    def name(self) -> str:
        """The beginning of the names of its inputs and outputs."""
        return f"joint_{self.double}{'_to_last' if self.to_last else ''}"

    def of_double(self, block: int, blocks: int) -> int | None:
        """Return the number of the residual for one of `blocks` joint blocks; None without."""
        if block == blocks - 1 and not self.to_last:
            return None
        return block * self.double // blocks


class TokenResidualWriter:
    """Emits the end of a control network whose residuals are tokens of a picture.

    Inputs and outputs are those of `ResidualWriter`, but that residuals are [rows, height / 2,
    width / 2, width of tokens], named by their `form` and a number, and the mask is residual_mask.1
    alone. `grid` is the height and width in tokens.
    """

    def __init__(self, g: GraphBuilder, form: TokenResidualForm, width: int, grid: Value) -> None:
        self._g, self._form, self._width, self._number = g, form, width, 0
        self._rows = g.input(ROWS, DType.I64, ("rows",))
        self._weights = g.input(WEIGHTS, DType.F32, ("rows", form.double + form.single, 1, 1))
        mask = g.input(f"{MASK}.1", DType.F32, (1, 1, "height/2", "width/2"))
        self._mask = g.op("Transpose", mask, perm=[0, 2, 3, 1])
        self._shape = g.op("Concat", g.integers([-1]), grid, g.integers([width]), axis=0)

    def write(self, tokens: Value, layer: str) -> None:
        """Emit the linear layer by which tokens leave, and declare the next residual."""
        g, number, width = self._g, self._number, self._width
        self._number += 1
        x = g.op("Gather", g.linear(tokens, layer, (width, width)), self._rows, axis=0)
        x = g.op("Reshape", x if g.element is DType.F32 else g.cast(x, DType.F32), self._shape)
        weight = g.op("Slice", self._weights, *(g.integers([n]) for n in (number, number + 1, 1)))
        x = g.op("Mul", x, g.op("Mul", weight, self._mask))
        shape = ("rows", "height/2", "width/2", width)
        before = g.input(f"{BEFORE}.{number}", DType.F32, shape, optional=True)
        g.output(g.op("Add", x, before), f"{self._form.name}.{number}", DType.F32, shape)


class TokenResiduals:
    """Adds the residuals of control networks to the latent's tokens in a transformer."""

    def __init__(self, g: GraphBuilder, width: int, forms: Sequence[TokenResidualForm]) -> None:
        self._g, self._width, self._forms = g, width, forms

    def after_double(self, image: Value, block: int, blocks: int) -> Value:
        """Return the tokens of pictures after a double block; the latent's are the first."""
        for form in self._forms:
            image = self._added(image, form, form.of_double(block, blocks), None)
        return image

    def after_single(self, x: Value, block: int, blocks: int, words: Value) -> Value:
        """Return all tokens after a single block; the latent's follow the text's, `words` many."""
        for form in self._forms:
            x = self._added(x, form, form.of_single(block, blocks), words)
        return x

    def _added(
        self, x: Value, form: TokenResidualForm, number: int | None, words: Value | None
    ) -> Value:
        """Add a residual to the tokens that follow the first `words`, if there are any."""
        if number is None:
            return x
        g, width = self._g, self._width
        shape = ("contexts", "height/2", "width/2", width)
        given = g.input_once(f"{form.name}.{number}", DType.F32, shape, optional=True)
        given = g.op("Reshape", g.cast_to_element(given), g.integers([0, -1, width]))
        first = g.integers([0]) if words is None else words
        last = g.op("Add", first, g.op("Shape", given, start=1, end=2))
        parts = [g.op("Slice", x, first, last, g.integers([1]))]
        parts[0] = g.op("Add", parts[0], given)
        if words is not None:
            parts.insert(0, g.op("Slice", x, g.integers([0]), first, g.integers([1])))
        parts.append(g.op("Slice", x, last, g.integers([_END]), g.integers([1])))
        return g.op("Concat", *parts, axis=1)
