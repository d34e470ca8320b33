"""The callable, handed in, through which a family's code runs networks.

So a family says which networks run on which inputs, and the pipeline loads them as its memory plan
says and retries broken results.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from backends.base import Array, Session
from engine.api.values import Phase
from engine.compile.network import Network

T = TypeVar("T")
# How many of how many tiles or steps are done.
Progress = Callable[[int, int], None]
# The reason an array cannot be used, or None.
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
        """Return what `work` makes with the loaded network, once `problem` finds none in it.

        `keep` asks for the network to stay loaded. Raises EngineError: NUMERIC_FAILURE where the
        safest precision fails too, OUT_OF_MEMORY.
        """
        ...

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run a session once. Raises EngineError, and Cancelled where the job is to stop."""
        ...
