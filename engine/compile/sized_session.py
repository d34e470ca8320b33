"""A session for all sizes, made of sessions that each serve a range of sizes."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, RLock

import msgspec
import numpy as np

from backends.base import (
    Array,
    Cancellation,
    DeviceValue,
    Feeds,
    Session,
    ShapeProfile,
    TensorSpec,
    all_feeds,
    host_arrays,
    host_values,
    sizes_of,
)
from engine.compile.shapes import Sizes, covers

# The names of the dimension along which the rows of a network's outputs are independent. The
# denoiser's rows are its whole batch under the first context, then under the next.
_ROWS = ("contexts", "batch")
# The name of the dimension of rows that a network picks among its own, such as a ControlNet's.
_PICKED = "rows"


class SessionFor(msgspec.Struct):
    """A session, the sizes it serves, and its pinned inputs."""

    session: Session
    profile: ShapeProfile
    pinned: dict[str, Array] = msgspec.field(default_factory=dict[str, Array])


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

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once. Raises BackendError, RunCancelled, and the errors of `load`."""
        sizes, parted = self._parted(feeds)
        return self._session_for(sizes).run(feeds) if parted is None else parted

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; results of several parts are in main memory. Raises as `run`."""
        sizes, parted = self._parted(feeds)
        if parted is None:
            return self._session_for(sizes).run_on_device(feeds)
        return host_values(self.outputs, parted)

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

    def _session_for(self, sizes: Sizes) -> Session:
        """Return a session of these sizes, with what is pinned."""
        fitting = next((s for s in self._sessions if covers(s.profile, sizes)), None)
        if fitting is None:
            fitting = self._load(sizes, self)
            with self._lock:
                self._sessions.append(fitting)
                if self.is_set():
                    fitting.session.cancel()
        for name, array in self._pinned.items():
            if fitting.pinned.get(name) is not array:
                fitting.session.pin(name, array)
                fitting.pinned[name] = array
        return fitting.session

    def _parted(self, feeds: Feeds) -> tuple[Sizes, dict[str, Array] | None]:
        """Return the sizes of a run, and its results if only parts of it fit a session."""
        given = all_feeds(self.inputs, self._pinned, feeds)
        sizes = sizes_of(self.inputs, given)
        if any(covers(session.profile, sizes) for session in self._sessions):
            return sizes, None
        rows = next((name for name in _ROWS if name in sizes), "")
        # With a batch of several pictures the rows of a context must stay together.
        if not rows or (rows == "contexts" and sizes.get("batch", 1) != 1):
            return sizes, None
        for loaded in self._sessions:
            dimensions = loaded.profile.dimensions
            wholes = {
                name: dimensions[name].maximum
                for name in (rows, _PICKED)
                if name in sizes.keys() & dimensions.keys()
            }
            fixed = {
                name: dimension for name, dimension in dimensions.items() if name not in wholes
            }
            others = {name: size for name, size in sizes.items() if name not in wholes}
            if covers(ShapeProfile(fixed), others) and _can_part(sizes, wholes):
                return sizes, self._in_parts(loaded.session, host_arrays(given), sizes, wholes)
        return sizes, None

    def _in_parts(
        self, session: Session, given: dict[str, Array], sizes: Sizes, wholes: Sizes
    ) -> dict[str, Array]:
        """Return the results of runs of the sizes `wholes`, the last of them padded."""
        rows = next(name for name in _ROWS if name in wholes)
        along = {spec.name: str(spec.shape[0]) for spec in (*self.inputs, *self.outputs)}
        results: list[dict[str, Array]] = []
        for start in range(0, sizes[rows], wholes[rows]):
            part = {
                name: _part(array, start if along[name] == rows else 0, wholes[along[name]])
                if along[name] in wholes
                else array
                for name, array in given.items()
            }
            results.append(session.run(part))
        return {
            spec.name: np.concatenate([result[spec.name] for result in results])[
                : sizes[along[spec.name]]
            ]
            for spec in self.outputs
        }


def _can_part(sizes: Sizes, wholes: Sizes) -> bool:
    """Tell whether a run can be made of runs of other sizes: picked rows may be of any part."""
    return _PICKED not in wholes or all(sizes[name] <= wholes[name] for name in wholes)


def _part(array: Array, start: int, rows: int) -> Array:
    """Return `rows` rows from `start`; the last row is repeated to fill up."""
    part = array[start : start + rows]
    return np.concatenate([part, np.repeat(part[-1:], rows - len(part), axis=0)])
