"""A session for graphs whose sizes nobody has said: it is made when they are first fed."""

from collections.abc import Callable, Mapping

from backends.base import (
    Array,
    RunCancelled,
    Session,
    ShapeProfile,
    TensorSpec,
    all_feeds,
    sizes_of,
)
from backends.tensorrt.ranges import exactly, holds


class SizedSession:
    """A `backends.base.Session` that `make`s the real one at the first run, for that run's sizes.

    Other sizes later make another. That takes as long as a compile: it is for those without an
    artifact. `make` raises BackendError or RunCancelled, and so does `run`.
    """

    def __init__(
        self,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        make: Callable[[ShapeProfile], Session],
    ) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self._make = make
        self._made: tuple[ShapeProfile, Session] | None = None
        self._pinned: dict[str, Array] = {}
        self._cancelled = False

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once, after making the session where there is none for these sizes."""
        if self._cancelled:
            raise RunCancelled
        given = all_feeds(self.inputs, self._pinned, feeds)
        return self._for(sizes_of(self.inputs, given)).run(feeds)

    def _for(self, sizes: Mapping[str, int]) -> Session:
        if self._made and holds(self._made[0], sizes):
            return self._made[1]
        self._discard()
        profile = exactly(sizes)
        session = self._make(profile)
        self._made = profile, session
        if self._cancelled:  # while it was being made
            session.cancel()
        for name, array in self._pinned.items():
            session.pin(name, array)
        return session

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array
        if self._made:
            self._made[1].pin(name, array)

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        self._cancelled = True
        if made := self._made:
            made[1].cancel()

    def close(self) -> None:
        """Free what was made."""
        self._discard()
        self._pinned.clear()

    def _discard(self) -> None:
        made, self._made = self._made, None
        if made:
            made[1].close()
