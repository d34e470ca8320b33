"""Measures a backend's private memory in a process of its own; prints JSON.

`python -m tests.backends.memory_probe BACKEND FOLDER WHAT`, which is a function of this module.
"""

import gc
import json
import sys
from pathlib import Path

import msgspec
import numpy as np

from backends.base import DType, FileSlice, Graph
from backends.hardware import private_bytes
from backends.registry import find
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.runtime_bytes import runtime_bytes
from engine.weights.sources import FileWeight
from tests.backends.samples import Target, lookup_graph, matmul_graph
from tests.checkpoints.gguf_files import blocks as random_blocks

SMALL_SIDE = 2288  # 20 MiB of float32
LARGE_SIDE = 4096  # 64 MiB
# The matrices of `layers_in_blocks`.
LAYERS = 3


def held() -> int:
    gc.collect()
    return private_bytes() or 0


def cycles(target: Target, folder: Path) -> list[int]:
    """The memory held after each of 20 rounds of load, run and close."""
    graph = matmul_graph(target, folder, side=SMALL_SIDE)
    after: list[int] = []
    for _ in range(20):
        session = target.load(graph)
        session.run({"x": np.ones((2, SMALL_SIDE), np.float32)})
        session.close()
        after.append(held())
    return after


def products(target: Target, folder: Path) -> list[int]:
    """The memory held before and after a matrix of 64 MiB is loaded and multiplied with."""
    warm_up(target, folder)
    graph = matmul_graph(target, folder, side=LARGE_SIDE)
    before = held()
    session = target.load(graph)
    session.run({"x": np.ones((1, LARGE_SIDE), np.float32)})
    return [before, held()]


def in_place(target: Target, folder: Path) -> list[int]:
    """The memory held before and after a matrix of 64 MiB is multiplied with where it is."""
    warm_up(target, folder)
    graph = matmul_graph(target, folder, side=LARGE_SIDE)
    graph = msgspec.structs.replace(graph, in_place=frozenset(graph.weights))
    before = held()
    session = target.load(graph)
    session.run({"x": np.ones((1, LARGE_SIDE), np.float32)})
    return [before, held()]


def blocks(target: Target, folder: Path) -> list[int]:
    """The bytes told of, and held before and after a run of, matrices in blocks of each form."""
    warm_up(target, folder)
    operators, element = target.backend.operators(target.device), target.precision.dtype
    weights = {
        f"{dtype}.weight": written(folder, dtype) for dtype in (DType.Q4_0, DType.Q4_K, DType.Q6_K)
    }
    g = GraphBuilder("blocks", weights, operators, element, target.precision)
    x = g.input("x", element, ("rows", LARGE_SIDE))
    for dtype in weights:
        x = g.linear(x, dtype.removesuffix(".weight"), (LARGE_SIDE, LARGE_SIDE), bias=False)
    g.output(x, "y", element, ("rows", LARGE_SIDE))
    graph = g.build(bind(g.used, element))
    before = held()
    session = target.load(graph)
    session.run({"x": np.ones((1, LARGE_SIDE), np.float32)})
    return [runtime_bytes(list(weights.values()), element, operators), before, held()]


def packed(target: Target, folder: Path) -> list[int]:
    """The memory held before and after a load that packs blocks of 4 bits, and after a run."""
    warm_up(target, folder)
    graph = msgspec.structs.replace(
        layers_in_blocks(target, folder, LARGE_SIDE), least_sizes={"rows": 1}
    )
    before = held()
    session = target.load(graph)
    loaded = held()
    session.run({"x": np.ones((2, LARGE_SIDE), np.float32)})
    return [before, loaded, held()]


def layers_in_blocks(target: Target, folder: Path, side: int) -> Graph:
    """Linear layers of 4 bits, one after the other."""
    operators, element = target.backend.operators(target.device), target.precision.dtype
    weight = written(folder, DType.Q4_0, side)
    weights = {f"{layer}.weight": weight for layer in range(LAYERS)}
    g = GraphBuilder("layers", weights, operators, element, target.precision)
    x = g.cast_to_element(g.input("x", DType.F32, ("rows", side)))
    for layer in range(LAYERS):
        x = g.linear(x, str(layer), (side, side), bias=False)
    g.output(x, "y", DType.F32, ("rows", side))
    return g.build(bind(g.used, element))


def written(folder: Path, dtype: DType, side: int = LARGE_SIDE) -> FileWeight:
    """A matrix of random blocks in a file."""
    stored = random_blocks(dtype, (side, side))
    path = folder / dtype.value
    path.write_bytes(stored.raw)
    return FileWeight(FileSlice(path, 0, dtype, stored.shape))


def lookup(target: Target, folder: Path) -> list[int]:
    """The memory held before and after a table of 64 MiB is loaded and a row of it looked up."""
    warm_up(target, folder)
    graph = lookup_graph(target, folder, side=LARGE_SIDE)
    before = held()
    session = target.load(graph)
    session.run({"row": np.zeros(1, np.int64)})
    return [before, held()]


def results(target: Target, folder: Path) -> list[int]:
    """The memory held before and after results of 64 MiB, and then of a few bytes."""
    session, side = target.load(matmul_graph(target, folder, side=16)), 16
    few = {"x": np.ones((1, side), np.float32)}
    session.run(few)
    before = held()
    session.run({"x": np.ones((LARGE_SIDE**2 // side, side), np.float32)})
    session.run(few)
    return [before, held()]


def warm_up(target: Target, folder: Path) -> None:
    """Load and run something small, so that the runtime itself is not counted."""
    session = target.load(matmul_graph(target, folder, side=16, name="warm"))
    session.run({"x": np.ones((1, 16), np.float32)})
    session.close()


def main(backend_name: str, folder: str, what: str) -> None:
    found = find(backend_name)
    assert found
    backend = found.create()
    target = Target(backend, backend.probe()[0])
    ways = (cycles, products, in_place, blocks, lookup, results, packed)
    measure = {way.__name__: way for way in ways}[what]
    sys.stdout.write(json.dumps(measure(target, Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
