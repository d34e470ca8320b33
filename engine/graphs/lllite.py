"""ControlNet-LLLite: small modules that change what attention is given, by a map.

A module (kohya-ss, sd-scripts `networks/control_net_lllite.py`) adds to the input x of a projection
before attention

    up(relu(mid([c, relu(down(x))])))

where c is an embedding of the map, one vector for each cell. What c contributes to `mid` does not
change from step to step: `lllite_embedding` computes it once per picture. The rest is written into
a denoiser whose config says so; all numbers of the modules are its inputs, so that one artifact
serves any files of that size, and none: without them nothing is added. The modules of several files
stand side by side in `columns`, each column with a weight of its own for each context.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

WEIGHTS = "lllite_weights"
# The ends of the names of a layer's inputs.
DOWN, SHIFT, MID, UP, MAP = (f".lllite_{part}" for part in ("down", "shift", "mid", "up", "map"))


@dataclass(frozen=True, slots=True)
class LlliteLayers:
    """The projections of a denoiser that modules act on, each with its level, and the columns."""

    levels: Mapping[str, int] = field(hash=False)
    columns: int


class LlliteModule(msgspec.Struct, frozen=True):
    """A module of a file: the name of its tensors, of its layer, and its sizes.

    `kernels` are those of the convolutions of the map, each as wide as its step, and `widths` their
    channels.
    """

    name: str
    layer: str
    kernels: tuple[int, ...]
    widths: tuple[int, ...]
    inner: int

    @property
    def downscale(self) -> int:
        """The number of pixels of the map along a side of a cell of its layer."""
        total = 1
        for kernel in self.kernels:
            total *= kernel
        return total


def lllite_embedding(
    g: GraphBuilder, modules: Sequence[LlliteModule], cells: Mapping[int, tuple[int, int]]
) -> None:
    """Emit the embeddings of a map for all modules of a file, once per picture.

    Input: map float32 [1, 3, map_height, map_width] in [0, 1]. Outputs: <layer>.lllite_map float32
    [1, rows, columns, inner], in cells of the layer's level. `cells` has the rows and columns to
    keep by `downscale`, where they are fewer than the map gives.
    """
    x = g.input("map", DType.F32, (1, 3, "map_height", "map_width"))
    x = g.op("Add", g.op("Mul", x, g.constant(2.0, DType.F32)), g.constant(-1.0, DType.F32))
    image = g.from_planes(g.cast_to_element(x))
    for module in modules:
        y, width = image, 3
        for i, (kernel, outer) in enumerate(zip(module.kernels, module.widths, strict=True)):
            name = f"{module.name}.conditioning1.{2 * i}"
            y = g.op("Relu", y) if i else y
            y = g.conv(y, name, (width, outer), kernel=kernel, stride=kernel, pads=(0, 0, 0, 0))
            width = outer
        rows = g.op("Transpose", g.to_planes(y), perm=[0, 2, 3, 1])
        rows = _of_map(g, module, rows, width)
        size: tuple[int | str, int | str]
        size = (f"map_height/{module.downscale}", f"map_width/{module.downscale}")
        if module.downscale in cells:
            size = cells[module.downscale]
            ends = g.integers([0, 0]), g.integers(size), g.integers([1, 2])
            rows = g.op("Slice", rows, *ends)
        g.output(rows, f"{module.layer}{MAP}", DType.F32, (1, *size, module.inner))


def _of_map(g: GraphBuilder, module: LlliteModule, x: Value, width: int) -> Value:
    """Emit the part of `mid` that the map's embedding contributes, with its bias."""
    inner = module.inner
    name = f"{module.name}.mid.0"

    def first_columns(parts: Sequence[Array], out: Array) -> None:
        out[...] = parts[0][:, :width]

    weight = g.derived_weight(
        [f"{name}.weight"], (inner, width + inner), (inner, width), first_columns, "of the map"
    )
    return g.op("Add", g.times_transposed(x, weight), g.weight(f"{name}.bias", (inner,)))


class LlliteWriter(msgspec.Struct, frozen=True):
    """Writes the modules of a denoiser."""

    g: GraphBuilder
    layers: LlliteLayers | None

    def acts_on(self, *layers: str) -> bool:
        """Tell whether a module acts on one of these projections."""
        return self.layers is not None and any(layer in self.layers.levels for layer in layers)

    def input_of(self, x: Value, layer: str, width: int) -> Value:
        """Return the input of a projection, [contexts, tokens, width], with what is added to it."""
        if self.layers is None or layer not in self.layers.levels:
            return x
        g, columns = self.g, self.layers.columns
        part = 1 << self.layers.levels[layer]
        sides = ("height", "width") if part == 1 else (f"height/{part}", f"width/{part}")
        narrow = g.op("MatMul", x, self._factor(layer, DOWN, (width, columns)))
        narrow = g.op("Relu", g.op("Add", narrow, self._factor(layer, SHIFT, (columns,))))
        mixed = g.op("MatMul", narrow, self._factor(layer, MID, (columns, columns)))
        of_map = self._factor(layer, MAP, (1, *sides, columns))
        of_map = g.op("Reshape", of_map, g.integers([1, -1, columns]))
        mixed = g.op("Relu", g.op("Add", mixed, of_map))
        size = ("contexts", 1, columns)
        weights = g.input_once(WEIGHTS, DType.F32, size, optional=True)
        mixed = g.op("Mul", mixed, g.cast_to_element(weights))
        return g.op("Add", x, g.op("MatMul", mixed, self._factor(layer, UP, (columns, width))))

    def _factor(self, layer: str, part: str, shape: tuple[int | str, ...]) -> Value:
        given = self.g.input(f"{layer}{part}", DType.F32, shape, optional=True)
        return self.g.cast_to_element(given)
