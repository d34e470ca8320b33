"""Networks on a device that compiles: found in or added to the artifact store, by their sizes."""

import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from backends.base import (
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Compilation,
    Device,
    Graph,
    Progress,
    RefitError,
    Session,
    ShapeProfile,
    ShapeSupport,
    TensorSpec,
    WeightRef,
)
from engine.compile.artifacts import ArtifactStore, HeldArtifact, Wanted
from engine.compile.child import compile_in_child
from engine.compile.key import artifact_key
from engine.compile.shapes import (
    Dimensions,
    Sizes,
    at_sizes,
    present_sizes,
    profile_for,
    variable_dimensions,
)
from engine.compile.sized_session import SessionFor, SizedSession

_log = logging.getLogger(__name__)

# The size of an artifact on disk, without the weights it may carry.
PLAN_BYTES = 64 << 20


class BoundLater(Mapping[str, WeightRef]):
    """A graph's weights, bound on the first access.

    Binding may convert gigabytes, and a runtime whose artifact carries weights accesses none.
    """

    def __init__(self, bind: Callable[[], Mapping[str, WeightRef]]) -> None:
        self._bind = bind
        self._bound: Mapping[str, WeightRef] | None = None

    def __getitem__(self, name: str) -> WeightRef:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def _all(self) -> Mapping[str, WeightRef]:
        if self._bound is None:
            self._bound = self._bind()
        return self._bound


class CompiledNetwork(msgspec.Struct, frozen=True):
    """A network on a device, and the sources of its artifacts.

    `source` is the graph that artifacts are made of: `graph`, with the weights that `graph.changed`
    replaces at each load. `weights` is the digest of its weights if artifacts carry them, else
    None. `bind_files` binds them mostly as references to files, for a
    child process.
    """

    backend: Backend
    device: Device
    compilation: Compilation
    graph: Graph
    source: Graph
    dimensions: Dimensions
    checkpoint: str
    weights: str | None
    bind_files: Callable[[], Mapping[str, WeightRef]]
    store: ArtifactStore

    @property
    def name(self) -> str:
        """The unique name of the network's artifact for the present sizes; empty if unknown."""
        return self.store.name_of(self._wanted(self.dimensions)) if self._knows_sizes else ""

    def is_prepared(self) -> bool:
        """Return True if there is an artifact for the present sizes."""
        held = self.store.find(self._wanted(self.dimensions)) if self._knows_sizes else None
        if held is None:
            return False
        held.release()
        return True

    def prepare(self, progress: Progress, cancel: Cancellation) -> None:
        """Compile for the present sizes if there is no artifact. Raises as `ArtifactStore.get`."""
        if self._knows_sizes:
            held = self._held(self.dimensions, progress, cancel)
            if held is not None:
                held.release()

    def load(self, progress: Progress, cancel: Cancellation) -> Session:
        """Return a session for the present sizes, which compiles for other sizes when they occur.

        Raises as `ArtifactStore.get`.
        """
        if self.compilation.shapes is ShapeSupport.DYNAMIC:
            return self._loaded(self.dimensions, progress, cancel).session

        def load(sizes: Sizes, cancel: Cancellation) -> SessionFor:
            dimensions = at_sizes(self.dimensions, sizes)
            return self._loaded(dimensions, lambda _done: None, cancel)

        known = self._knows_sizes
        first = self._loaded(self.dimensions, progress, cancel) if known else None
        return SizedSession(self.graph.inputs, self.graph.outputs, load, first)

    @property
    def _knows_sizes(self) -> bool:
        fits_all = self.compilation.shapes is ShapeSupport.DYNAMIC
        return fits_all or variable_dimensions(self.graph.inputs) <= self.dimensions.keys()

    def _wanted(self, dimensions: Dimensions) -> Wanted:
        fits_all = self.compilation.shapes is ShapeSupport.DYNAMIC
        runtime = self.backend.fingerprint(self.device)
        carried = self.graph.weight_bytes if self.compilation.carries_weights else 0
        profile = profile_for(dimensions, self.compilation.shapes)
        return Wanted(
            key=artifact_key(self.graph, self.device, runtime, self.compilation, self.weights),
            sizes={} if fits_all else present_sizes(dimensions),
            profile=ShapeProfile() if fits_all else profile,
            network=self.graph.name,
            checkpoint=self.checkpoint if self.compilation.carries_weights else "",
            device=self.device,
            precision=self.graph.precision,
            runtime=runtime,
            expected_bytes=PLAN_BYTES + carried,
        )

    def _held(
        self, dimensions: Dimensions, progress: Progress, cancel: Cancellation
    ) -> HeldArtifact | None:
        profile = profile_for(dimensions, self.compilation.shapes)

        def compile_(folder: Path) -> Artifact | None:
            given = (self.device, profile, folder, progress, cancel)
            if self.compilation.interruptible:
                return self.backend.compile(self.source, *given)
            return compile_in_child(
                msgspec.structs.replace(self.source, weights=dict(self.bind_files())), *given
            )

        return self.store.get(self._wanted(dimensions), compile_, cancel)

    def _loaded(
        self, dimensions: Dimensions, progress: Progress, cancel: Cancellation
    ) -> SessionFor:
        held = self._held(dimensions, progress, cancel)
        try:
            return self._session(held, dimensions, progress, cancel)
        except RefitError:
            raise  # the artifact is sound
        except BackendError as error:
            if held is None or held.made or error.out_of_memory:
                raise
            # The artifact is stale, or damaged in a file that is not read at each start.
            self.store.discard(held)
        held = self._held(dimensions, progress, cancel)
        return self._session(held, dimensions, progress, cancel)

    def _session(
        self,
        held: HeldArtifact | None,
        dimensions: Dimensions,
        progress: Progress,
        cancel: Cancellation,
    ) -> SessionFor:
        artifact = held and held.artifact
        try:
            session = self.backend.load(self.graph, artifact, self.device, progress, cancel)
        except BaseException:
            if held is not None:
                held.release()
            raise
        if held is None:
            return SessionFor(session, profile_for(dimensions, self.compilation.shapes))
        if held.unkept and self.store.folder is not None:
            _log.warning("what was compiled cannot be kept: %s", held.unkept)
        return SessionFor(_HoldingSession(session, held), held.artifact.profile)


class _HoldingSession:
    """A session that protects its artifact from removal until it is closed."""

    def __init__(self, session: Session, held: HeldArtifact) -> None:
        self.inputs: tuple[TensorSpec, ...] = session.inputs
        self.outputs: tuple[TensorSpec, ...] = session.outputs
        self.run, self.run_on_device = session.run, session.run_on_device
        self.pin, self.cancel = session.pin, session.cancel
        self._session, self._held = session, held

    def close(self) -> None:
        """Close the session, and release the artifact."""
        self._session.close()
        self._held.release()
