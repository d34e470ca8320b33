"""The interface through which a family's code runs networks.

A family chooses the networks and their inputs; the pipeline implements the protocols here, loads
the networks by its memory plan and retries invalid results.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from backends.base import Array, Session
from engine.api.values import Phase
from engine.compile.network import Network

T = TypeVar("T")
# A callback that gets the number of tiles or steps done, and their total.
Progress = Callable[[int, int], None]
# A check that returns the reason an array is invalid, such as NaN, or None for a valid one.
Problem = Callable[[Array], str | None]


class NetworkRunner(Protocol):
    """Loads networks and runs them; `engine.pipeline.stages.Stages` is one."""

    def run(
        self,
        phase: Phase,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool = False,
    ) -> T:
        """Load `network`, call `work` with its session and return the result.

        If `problem` finds the result invalid, the work is repeated in a safer precision. `keep`
        asks to leave the network loaded. Raises EngineError: NUMERIC_FAILURE where the safest
        precision fails too, OUT_OF_MEMORY.
        """
        ...

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run a session once. Raises EngineError, or Cancelled if the job was cancelled."""
        ...


class EncoderRunner(Protocol):
    """Runs encoders, for inputs that they were not given before; `Stages` is one."""

    def encode(
        self,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
    ) -> T:
        """Do the `work` of encoding as `NetworkRunner.run`, without calls that were made before.

        `work` gets their results instead, which must not be written to. It may be called more than
        once. Raises EngineError as `NetworkRunner.run`.
        """
        ...

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run a session once. Raises EngineError, or Cancelled if the job was cancelled."""
        ...
