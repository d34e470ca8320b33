"""A session for all sizes, made of sessions that each serve a range of sizes."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, RLock

import numpy as np

from backends.base import (
    Array,
    Cancellation,
    Session,
    ShapeProfile,
    TensorSpec,
    all_feeds,
    sizes_of,
)
from engine.compile.shapes import Sizes, covers

# The names of the dimension along which the rows of a network's outputs are independent. The
# denoiser's rows are its whole batch under the first context, then under the next.
_ROWS = ("contexts", "batch")


@dataclass(slots=True)
class SessionFor:
    """A session, the sizes it serves, and its pinned inputs."""

    session: Session
    profile: ShapeProfile
    pinned: dict[str, Array] = field(default_factory=dict[str, Array])


# Loads a session that serves these sizes; the `Cancellation` may stop the load.
Load = Callable[[Sizes, Cancellation], SessionFor]


class SizedSession:
    """A `backends.base.Session` for all sizes; `load` provides a session for new sizes.

    If only the number of rows differs from a session's compiled size, the rows are run in parts,
    the last of them padded. It is the `Cancellation` of the sessions that it loads.
    """

    def __init__(
        self,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        load: Load,
        first: SessionFor | None,
    ) -> None:
        """Start with the loaded session `first`; None if the sizes are unknown until a run."""
        self.inputs, self.outputs = inputs, outputs
        self._load = load
        self._sessions = [] if first is None else [first]
        self._pinned: dict[str, Array] = {}
        self._lock = RLock()
        self._cancelled = Event()
        self._stops: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        """Return True once `cancel` was called."""
        return self._cancelled.is_set()

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        """Have `cancel` call `stop` within the block; at once if it was called before."""
        with self._lock:
            self._stops.append(stop)
            if self.is_set():
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once. Raises BackendError, RunCancelled, and the errors of `load`."""
        given = all_feeds(self.inputs, self._pinned, feeds)
        sizes = sizes_of(self.inputs, given)
        fitting = next((s for s in self._sessions if covers(s.profile, sizes)), None)
        if fitting is None:
            rows, parts = self._in_parts(sizes)
            if parts is not None:
                return self._run_parts(parts, given, rows, sizes[rows])
            fitting = self._load(sizes, self)
            with self._lock:
                self._sessions.append(fitting)
                if self.is_set():
                    fitting.session.cancel()
        return self._run_with(fitting, feeds)

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        with self._lock:
            self._cancelled.set()
            for stop in (*self._stops, *(loaded.session.cancel for loaded in self._sessions)):
                stop()

    def close(self) -> None:
        """Free every session."""
        self._pinned.clear()
        while self._sessions:
            self._sessions.pop().session.close()

    def _run_with(self, fitting: SessionFor, feeds: Mapping[str, Array]) -> dict[str, Array]:
        for name, array in self._pinned.items():
            if fitting.pinned.get(name) is not array:
                fitting.session.pin(name, array)
                fitting.pinned[name] = array
        return fitting.session.run(feeds)

    def _in_parts(self, sizes: Sizes) -> tuple[str, SessionFor | None]:
        """Return the rows' dimension, and a session that serves all sizes except the rows'."""
        rows = next((name for name in _ROWS if name in sizes), "")
        others = {name: size for name, size in sizes.items() if name != rows}
        # With a batch of several pictures the rows of a context must stay together.
        if not rows or (rows == "contexts" and sizes.get("batch", 1) != 1):
            return rows, None
        for loaded in self._sessions:
            dimensions = dict(loaded.profile.dimensions)
            if dimensions.pop(rows, None) and covers(ShapeProfile(dimensions), others):
                return rows, loaded
        return rows, None

    def _run_parts(
        self, loaded: SessionFor, given: Mapping[str, Array], rows: str, count: int
    ) -> dict[str, Array]:
        whole = loaded.profile.dimensions[rows].maximum
        in_rows = {spec.name for spec in self.inputs if spec.shape[:1] == (rows,)}
        results: list[dict[str, Array]] = []
        for start in range(0, count, whole):
            part = {
                name: _part(array, start, whole) if name in in_rows else array
                for name, array in given.items()
            }
            results.append(loaded.session.run(part))
        return {
            spec.name: np.concatenate([result[spec.name] for result in results])[:count]
            for spec in self.outputs
        }


def _part(array: Array, start: int, rows: int) -> Array:
    """Return `rows` rows from `start`; the last row is repeated to fill up."""
    part = array[start : start + rows]
    return np.concatenate([part, np.repeat(part[-1:], rows - len(part), axis=0)])
