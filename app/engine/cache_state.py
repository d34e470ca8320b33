"""The cached data of the engine by the model that it is for, listed and cleared."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.field import Field
from engine.api.machine import ArtifactInfo
from engine.api.machine_messages import CacheListed, CacheRebuilding
from engine.api.messages import QueryFailed


class CachedModel(msgspec.Struct, frozen=True):
    """The cached data of a model, empty for what serves several: its artifacts' names and bytes.

    `last_used` is in seconds since 1970.
    """

    checkpoint: str
    names: tuple[str, ...]
    bytes: int
    last_used: float


class CacheState(QObject):
    """The cache by models, the largest first; None before it was asked for."""

    models_changed = Signal(object)
    rebuilding_changed = Signal(object)
    # ErrorInfo: a rebuild failed.
    failed = Signal(object)

    # The model whose cache is being rebuilt, and the percentage that is done.
    rebuilding = Field[tuple[str, int] | None](None)
    models = Field[tuple[CachedModel, ...] | None](None)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._query: int | None = None
        self._rebuild: int | None = None
        client.cache_rebuilding.connect(self._on_rebuilding)
        client.cache_listed.connect(self._on_listed)
        client.query_failed.connect(self._on_failed)

    @property
    def bytes(self) -> int:
        """The bytes of everything in the cache."""
        return sum(model.bytes for model in self.models or ())

    def refresh(self) -> None:
        """Have the engine list the cache again."""
        if self._query is None:
            self._query = self._client.list_cache()

    def clear(self, models: Sequence[CachedModel]) -> None:
        """Delete the cached data of models; a running job's stays."""
        names = [name for model in models for name in model.names]
        if names:
            self._query = self._client.clear_cache(names)

    def rebuild(self, model: CachedModel, path: Path) -> None:
        """Delete a model's cached data, and have it made again now; one model at a time."""
        if self.rebuilding is None:
            self._rebuild = self._client.rebuild_cache(model.names, str(path))
            self.rebuilding = model.checkpoint, 0

    def _on_rebuilding(self, event: CacheRebuilding) -> None:
        if event.query == self._rebuild and self.rebuilding is not None:
            percent = 100 * event.done // max(1, event.total)
            self.rebuilding = self.rebuilding[0], percent

    def _on_listed(self, event: CacheListed) -> None:
        if event.query == self._rebuild:
            self._end_rebuild()
        elif event.query == self._query:
            self._query = None
        else:
            return
        self.models = _by_model(event.artifacts)

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query == self._rebuild:
            self._end_rebuild()
            self.failed.emit(event.error)
            self.refresh()
        elif event.query == self._query:
            self._query = None

    def _end_rebuild(self) -> None:
        self._rebuild, self.rebuilding = None, None


def _by_model(artifacts: Sequence[ArtifactInfo]) -> tuple[CachedModel, ...]:
    grouped: dict[str, list[ArtifactInfo]] = defaultdict(list)
    for artifact in artifacts:
        grouped[artifact.checkpoint].append(artifact)
    models = (
        CachedModel(
            checkpoint,
            tuple(artifact.name for artifact in found),
            sum(artifact.bytes for artifact in found),
            max(artifact.last_used for artifact in found),
        )
        for checkpoint, found in grouped.items()
    )
    return tuple(sorted(models, key=lambda model: (-model.bytes, model.checkpoint)))
