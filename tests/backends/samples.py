"""Small networks for tests of backends, with what they compute done again in NumPy."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backends.base import (
    Array,
    Backend,
    Cancellation,
    ComputedArray,
    Device,
    DimensionRange,
    DType,
    FileSlice,
    Graph,
    Precision,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from tests.checkpoints.arrays import write_arrays

CHANNELS, WIDTH = 4, 8
# All that the tests of the contract run the networks below at.
_PROFILE = ShapeProfile(
    {
        "batch": DimensionRange(1, 2, 1024),
        "height": DimensionRange(1, 7, 16),
        "width": DimensionRange(1, 5, 16),
    }
)


class NeverCancelled:
    """A `Cancellation` that nobody uses."""

    def is_set(self) -> bool:
        return False

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        yield


@dataclass(frozen=True, slots=True)
class Target:
    """A device of a backend, what to compute in, and the element type of the graph."""

    backend: Backend
    device: Device
    precision: Precision = Precision.F32
    element: DType = DType.F32

    @property
    def computes(self) -> bool:
        """Return True if the network's numbers mean anything."""
        return self.backend.name != "null"

    def builder(self, name: str, weights: dict[str, FileSlice]) -> GraphBuilder:
        operators = self.backend.operators(self.device)
        return GraphBuilder(name, weights, operators, self.element, self.precision)

    def load(self, graph: Graph, cancel: Cancellation | None = None) -> Session:
        """Load a graph; where a backend loads only what was compiled for ranges, compile it."""
        never = cancel or NeverCancelled()
        compilation = self.backend.compilation(self.device)
        if compilation is None or compilation.shapes is not ShapeSupport.RANGES:
            return self.backend.load(graph, None, self.device, ignore, never)
        with TemporaryDirectory() as folder:
            given = self.device, _PROFILE, Path(folder), ignore, never
            artifact = self.backend.compile(graph, *given)
            return self.backend.load(graph, artifact, self.device, ignore, never)


def ignore(_: float | None) -> None:
    """A `Progress` that nobody reads."""


def sample_weights(dtype: DType) -> dict[str, Array]:
    """Random weights of the sample network, already rounded to `dtype`."""
    random = np.random.default_rng(0)
    shapes = {
        "conv.weight": (WIDTH, CHANNELS, 3, 3),
        "conv.bias": (WIDTH,),
        "mix.weight": (WIDTH, WIDTH),
        "mix.bias": (WIDTH,),
    }
    return {
        name: random.uniform(-0.5, 0.5, shape).astype(dtype.numpy).astype(np.float32)
        for name, shape in shapes.items()
    }


def sample_graph(target: Target, folder: Path) -> Graph:
    """Convolution, shift, linear, doubling, and a residual that need not be given.

    Its weights are in two files, at odd offsets, and in memory.
    """
    element, arrays = target.element, sample_weights(target.element)
    first = {name: array for name, array in arrays.items() if name.startswith("conv")}
    second = {name: array for name, array in arrays.items() if name.startswith("mix")}
    slices = write_arrays(folder / "Gewichte für 模型 1.safetensors", first, element, odd=True)
    slices |= write_arrays(folder / "weights 2.safetensors", second, element, odd=True)
    g = target.builder("sample", slices)
    image = g.input("image", DType.F32, ("batch", CHANNELS, "height", "width"))
    shift = g.input("shift", DType.F32, (WIDTH, 1, 1))
    x = g.conv(g.from_planes(g.cast_to_element(image)), "conv", (CHANNELS, WIDTH))
    x = g.from_planes(g.silu(g.op("Add", g.to_planes(x), g.cast_to_element(shift))))
    x = g.to_image(g.linear(g.to_tokens(x, WIDTH), "mix", (WIDTH, WIDTH)), x)
    x = g.to_planes(x)
    size = ("batch", WIDTH, "2*height", "2*width")
    nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
    scales = g.constant([1, 1, 2, 2], DType.F32)
    doubled = g.op("Resize", x, "", scales, nearest_mode="floor", **nearest)
    residual = g.input("residual", DType.F32, size, optional=True)
    whole = g.op("Add", doubled, g.cast_to_element(residual))
    g.output(whole, "doubled", DType.F32, size)
    bound = bind(g.used, element)
    bound["mix.bias"] = ComputedArray(arrays["mix.bias"].astype(element.numpy), element)
    return g.build(bound)


def sample_feeds(
    batch: int = 2, height: int = 7, width: int = 5, seed: int = 1
) -> dict[str, Array]:
    """Feeds of the sample network."""
    random = np.random.default_rng(seed)
    image = random.standard_normal((batch, CHANNELS, height, width), np.float32)
    return {"image": image, "shift": random.standard_normal((WIDTH, 1, 1), np.float32)}


def sample_result(feeds: dict[str, Array], dtype: DType) -> Array:
    """The result of the sample network, computed by NumPy."""
    weights = sample_weights(dtype)
    padded = np.pad(feeds["image"], ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), (2, 3))
    x = np.einsum("bchwij,ocij->bohw", windows, weights["conv.weight"])
    x = x + weights["conv.bias"][:, None, None] + feeds["shift"]
    x = x / (1 + np.exp(-x))
    x = np.einsum("bchw,oc->bohw", x, weights["mix.weight"]) + weights["mix.bias"][:, None, None]
    return x.repeat(2, axis=2).repeat(2, axis=3) + feeds.get("residual", np.float32(0))


def matmul_graph(
    target: Target, folder: Path, *, side: int, layers: int = 1, name: str = "matmul"
) -> Graph:
    """The same square linear layer `layers` times, tanh between; `side` squared float32 weights."""
    random = np.random.default_rng(0)
    array = random.standard_normal((side, side), np.float32) / np.sqrt(side)
    path = folder / f"{name}.safetensors"
    slices = write_arrays(path, {"layer.weight": array})
    g = target.builder(name, slices)
    x = g.cast_to_element(g.input("x", DType.F32, ("batch", side)))
    for _ in range(layers):
        x = g.op("Tanh", g.linear(x, "layer", (side, side), bias=False))
    g.output(x, "y", DType.F32, ("batch", side))
    return g.build(dict(slices))


def lookup_graph(target: Target, folder: Path, *, side: int) -> Graph:
    """One row of a square float32 table."""
    slices = write_arrays(folder / "table.safetensors", {"table": np.ones((side, side))})
    g = target.builder("lookup", slices)
    row = g.input("row", DType.I64, ("rows",))
    y = g.op("Gather", g.weight("table", (side, side)), row)
    g.output(y, "y", DType.F32, ("rows", side))
    return g.build(dict(slices))


def relative_error(actual: Array, expected: Array) -> float:
    """The L2 norm of the difference relative to that of `expected`."""
    difference = actual.astype(np.float64) - expected
    return float(np.linalg.norm(difference) / np.linalg.norm(expected))
