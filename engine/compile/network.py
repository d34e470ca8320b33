"""A network independent of devices: its name, the function that emits its graph, its weights."""

from collections.abc import Callable, Mapping
from enum import StrEnum

import msgspec

from backends.base import DimensionRange, Precision
from engine.graphs.operators import GraphBuilder
from engine.weights.side_branches import SideBranches
from engine.weights.weight_set import WeightSet


def name_with_branches(name: str, rank: int) -> str:
    """Return the name under which runs of a network with side branches of a rank are timed."""
    return f"{name} with side branches of rank {rank}"


def name_with_patches(name: str) -> str:
    """Return the name under which the loading of a network with patched weights is timed."""
    return f"{name} with patches"


class Preparation(StrEnum):
    """The most expensive step of preparing a network."""

    LOAD = "load"
    CONVERT = "convert"
    COMPILE = "compile"


class Network(msgspec.Struct, frozen=True):
    """A network to prepare: its name, the function that emits its graph, and its weights.

    `dimensions` has the present size and the range of its variable dimensions; a device that
    compiles for sizes learns missing ones at the first run. `checkpoint` is a name for people.
    `least_sizes` are those of the smallest run, where many runs follow (`Graph.least_sizes`).
    `overflows_f16`: its activations are known to exceed float16's range. `branches` run beside some
    layers; their factors and strengths are inputs of the graph.
    """

    name: str
    emit: Callable[[GraphBuilder], None]
    weights: WeightSet
    dimensions: Mapping[str, DimensionRange] = msgspec.field(
        default_factory=dict[str, DimensionRange]
    )
    checkpoint: str = ""
    overflows_f16: bool = False
    branches: SideBranches | None = None
    least_sizes: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    @property
    def runs_as(self) -> str:
        """The name under which its runs are timed."""
        if self.branches is None:
            return self.name
        return name_with_branches(self.name, self.branches.rank)

    @property
    def loads_as(self) -> str:
        """The name under which its loading is timed, which computes patched weights."""
        patched = self.weights.base is not self.weights
        return name_with_patches(self.name) if patched else self.name

    def precisions(self, offered: tuple[Precision, ...]) -> tuple[Precision, ...]:
        """Return the offered precisions that are safe for the network; all if none is safe."""
        safe = tuple(precision for precision in offered if precision is not Precision.F16)
        return safe if self.overflows_f16 and safe else offered
