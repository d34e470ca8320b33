"""`python -m engine.compile.compile_process`: one compile that is stopped by killing the process.

It reads a pickled `Order` from stdin and writes its progress and its result to stdout as lines of
JSON. Only the engine that starts it writes to its stdin.
"""

import argparse
import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from backends.base import Artifact, BackendError, Device, Graph, ShapeProfile
from backends.registry import find
from engine.packs import use_packs
from engine.parent import die_first
from engine.stdio import take_stdio


class Order(msgspec.Struct, frozen=True):
    """A graph to compile, the target to compile it for, and the empty folder for the result."""

    graph: Graph
    device: Device
    profile: ShapeProfile
    folder: Path


class Progressed(msgspec.Struct, frozen=True, tag=True):
    """A message: the fraction done, None if the runtime does not report it."""

    done: float | None


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """The last message: the compiled profile; None if the result is not worth keeping."""

    profile: ShapeProfile | None


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The last message of a failed compile: its `BackendError`."""

    message: str
    out_of_memory: bool


Word: TypeAlias = Progressed | Compiled | Refused
Say = Callable[[Word], None]


class _NobodyAsks:
    """A `Cancellation` that is never set: the engine stops a compile by killing the process."""

    def is_set(self) -> bool:
        """Return False."""
        return False

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a block that never calls `stop`."""
        return nullcontext()


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile the order from stdin, report the result, and end the process."""
    parser = argparse.ArgumentParser(prog="compile", description="One compile.")
    parser.add_argument("--parent", type=int, required=True)
    parent = parser.parse_args(arguments).parent
    pipes = take_stdio()
    use_packs()
    with os.fdopen(os.dup(pipes.commands), "rb") as commands:
        order = cast("Order", pickle.load(commands))
    die_first(parent, pipes.commands)

    def say(word: Word) -> None:
        os.write(pipes.events, msgspec.json.encode(word) + b"\n")

    say(_compiled(order, say))
    # A runtime may hang or crash while it is torn down; everything has been reported.
    os._exit(0)


def _compiled(order: Order, say: Say) -> Compiled | Refused:
    reference = find(order.device.backend)
    if reference is None:
        return Refused(f"there is no backend {order.device.backend}", out_of_memory=False)
    try:
        artifact: Artifact | None = reference.create().compile(
            order.graph,
            order.device,
            order.profile,
            order.folder,
            lambda done: say(Progressed(done)),
            _NobodyAsks(),
        )
    except BackendError as error:
        return Refused(str(error), error.out_of_memory)
    return Compiled(artifact.profile if artifact else None)


if __name__ == "__main__":
    main()
