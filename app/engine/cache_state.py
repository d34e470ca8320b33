"""The cached data of the engine by the model that it is for, listed and cleared."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.field import Field
from engine.api.machine import ArtifactInfo
from engine.api.machine_messages import CacheListed
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

    models = Field[tuple[CachedModel, ...] | None](None)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._query: int | None = None
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

    def _on_listed(self, event: CacheListed) -> None:
        if event.query == self._query:
            self._query = None
            self.models = _by_model(event.artifacts)

    def _on_failed(self, event: QueryFailed) -> None:
        if event.query == self._query:
            self._query = None


def _by_model(artifacts: Sequence[ArtifactInfo]) -> tuple[CachedModel, ...]:
    grouped: dict[str, list[ArtifactInfo]] = defaultdict(list)
    for artifact in artifacts:
        grouped[artifact.checkpoint].append(artifact)
    models = (
        CachedModel(
            checkpoint,
            tuple(one.name for one in found),
            sum(one.bytes for one in found),
            max(one.last_used for one in found),
        )
        for checkpoint, found in grouped.items()
    )
    return tuple(sorted(models, key=lambda model: (-model.bytes, model.checkpoint)))
