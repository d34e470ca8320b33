"""A network that enlarges pictures as it is read, and an architecture as it is recognised."""

from collections.abc import Callable, Mapping

import msgspec

from backends.base import FileSlice
from engine.graphs.operators import GraphBuilder
from engine.upscalers.tensors import Tensors

Emit = Callable[[GraphBuilder], None]


class Needs(msgspec.Struct, frozen=True):
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


class Tail(msgspec.Struct, frozen=True):
    """The last layers, which enlarge: they hold most numbers, but each pixel sees only its next.

    `body` emits the layers before them, with an output `features` of so many `channels`, each side
    `shrinks` times as short as the picture's. `emit` emits the tail, which takes features for its
    picture. `numbers` is as that of a network, for each pixel of features; `reach` is in those.
    """

    body: Emit
    emit: Emit
    channels: int
    numbers: int
    shrinks: int = 1
    reach: int = 2


class UpscalerNetwork(msgspec.Struct, frozen=True):
    """A network with its weights by the names of its graph.

    `numbers` is how many numbers of its results are needed at once for each pixel of the picture it
    is given; where it has a `tail`, which is then run in tiles of its own, those of the layers
    before that. `ahead` are those that follow from the size alone, for a runtime that keeps them.
    `overflows_f16`: it needs more range or precision than float16 has. `attends`: it has attention,
    so that its weights do not tell how much it computes.
    """

    channels: int
    scale: int
    emit: Emit
    weights: Mapping[str, FileSlice]
    needs: Needs
    numbers: int
    overflows_f16: bool = False
    tail: Tail | None = None
    ahead: int = 0
    attends: bool = False


class UpscalerArchitecture(msgspec.Struct, frozen=True):
    """An architecture: its name, the names of tensors that show it, and how its sizes are read.

    `read` raises EngineError(CHECKPOINT_MISMATCH) for tensors that contradict each other.
    """

    title: str
    recognises: Callable[[Tensors], bool]
    read: Callable[[Tensors], UpscalerNetwork]
