"""A network as it is before a device is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backends.base import DimensionRange, Precision
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet


class Preparation(StrEnum):
    """The most expensive thing that making a network ready takes."""

    LOAD = "load"
    CONVERT = "convert"
    COMPILE = "compile"


@dataclass(frozen=True, slots=True)
class Network:
    """A network to prepare: its name, how to emit it, and the weights it may use.

    `dimensions` says what its variable dimensions are now and what they may be; a device that
    compiles for sizes learns those that are missing when it runs. `checkpoint` is for people.
    `overflows_f16`: its activations are known to leave float16's range.
    """

    name: str
    emit: Callable[[GraphBuilder], None]
    weights: WeightSet
    dimensions: Mapping[str, DimensionRange] = field(default_factory=dict[str, DimensionRange])
    checkpoint: str = ""
    overflows_f16: bool = False

    def precisions(self, offered: tuple[Precision, ...]) -> tuple[Precision, ...]:
        """The offered precisions that are safe for the network, in order; all if none is safe."""
        safe = tuple(one for one in offered if one is not Precision.F16)
        return safe if self.overflows_f16 and safe else offered
