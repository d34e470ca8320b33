"""The null backend, counting: what was loaded, and what is still open."""

from collections.abc import Mapping

from backends.base import (
    Array,
    Artifact,
    Cancellation,
    Device,
    DeviceValue,
    Feeds,
    Graph,
    Precision,
    Progress,
    Session,
)
from backends.null import NullBackend, Script


class CountingBackend(NullBackend):
    """`loads` lists every network loaded, `open_now` those not closed, `most_open` the worst.

    `beside` has the networks that were open when another was loaded, with it. A kind of device
    overrides what happens around a load and a run.
    """

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        super().__init__(scripts)
        self.loads: list[tuple[str, Precision]] = []
        self.open_now: list[str] = []
        self.most_open = 0
        self.beside: set[frozenset[str]] = set()
        self.graphs: list[Graph] = []

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.before_load(graph)
        session = super().load(graph, artifact, device, progress, cancel)
        self.graphs.append(graph)
        self.loads.append((graph.name, graph.precision))
        self.open_now.append(graph.name)
        self.most_open = max(self.most_open, len(self.open_now))
        if len(self.open_now) > 1:
            self.beside.add(frozenset(self.open_now))
        self.after_load(graph)
        return _CountedSession(session, graph, self)

    def before_load(self, graph: Graph) -> None:
        """Do nothing; a device may raise, and then loads nothing."""

    def after_load(self, graph: Graph) -> None:
        """Do nothing; called once a network is loaded."""

    def before_run(self, graph: Graph) -> None:
        """Do nothing; a device may raise, and then runs nothing."""

    def after_run(self, graph: Graph) -> None:
        """Do nothing; called once a network has run."""


class _CountedSession:
    def __init__(self, session: Session, graph: Graph, backend: CountingBackend) -> None:
        self.inputs, self.outputs = session.inputs, session.outputs
        self._session, self._graph, self._backend = session, graph, backend
        self._name, self._open_now = graph.name, backend.open_now

    def run(self, feeds: Feeds) -> dict[str, Array]:
        assert self._name in self._open_now, "run after close"
        self._backend.before_run(self._graph)
        made = self._session.run(feeds)
        self._backend.after_run(self._graph)
        return made

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        assert self._name in self._open_now, "run after close"
        return self._session.run_on_device(feeds)

    def pin(self, name: str, array: Array) -> None:
        self._session.pin(name, array)

    def cancel(self) -> None:
        assert self._name in self._open_now, "cancel after close"
        self._session.cancel()

    def close(self) -> None:
        self._open_now.remove(self._name)  # fails if closed twice
        self._session.close()
