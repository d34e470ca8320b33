"""A network that enlarges pictures as it is read, and an architecture as it is recognised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backends.base import FileSlice
from engine.graphs.operators import GraphBuilder
from engine.upscalers.tensors import Tensors


@dataclass(frozen=True, slots=True)
class Needs:
    """The demands of a network on the pictures it is given, in pixels before it enlarges them.

    Sides are multiples of `multiple` and at least `least`; what is missing is reflected, or with
    `zeros` black. Pixels more than `reach` apart hardly influence each other. `sees_all`: some
    layers look at the whole picture, so that a tile is not exactly a part of the whole.
    """

    multiple: int = 1
    least: int = 1
    reach: int = 32
    zeros: bool = False
    sees_all: bool = False


@dataclass(frozen=True, slots=True)
class UpscalerNetwork:
    """A network with its weights by the names of its graph.

    `numbers` is about how many numbers it holds at once for each pixel of the picture it is given.
    `overflows_f16`: it needs more range or precision than float16 has.
    """

    channels: int
    scale: int
    emit: Callable[[GraphBuilder], None]
    weights: Mapping[str, FileSlice]
    needs: Needs
    numbers: int
    overflows_f16: bool = False


@dataclass(frozen=True, slots=True)
class UpscalerArchitecture:
    """An architecture: its name, the names of tensors that show it, and how its sizes are read.

    `read` raises EngineError(CHECKPOINT_MISMATCH) for tensors that contradict each other.
    """

    title: str
    recognises: Callable[[Tensors], bool]
    read: Callable[[Tensors], UpscalerNetwork]
