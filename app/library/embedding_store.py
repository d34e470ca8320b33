"""The user's embeddings by name; their files are read when somebody wants to know more."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.library.lora_store import LoraStore
from engine.api.embedding_messages import EmbeddingsDescribed
from engine.api.embeddings import EmbeddingInfo
from engine.api.messages import QueryFailed

# The descriptions of many are asked for in parts, so that the first ones show soon.
_AT_ONCE = 16


class EmbeddingStore(QObject):
    """The names of all embeddings, which are listed with the LoRAs, and what is known of some."""

    changed = Signal()

    def __init__(
        self, client: EngineClient, loras: LoraStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._loras = client, loras
        self._infos: dict[str, EmbeddingInfo] = {}
        # Names that the engine was asked about since the files were listed.
        self._asked: set[str] = set()
        self._queries: set[int] = set()
        loras.listing_changed.connect(self._on_listing)
        client.embeddings_described.connect(self._on_described)
        client.query_failed.connect(self._on_failed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that prompts may use."""
        return self._loras.embeddings

    @property
    def is_listed(self) -> bool:
        """False until the names are known."""
        return self._loras.is_listed

    def info(self, name: str) -> EmbeddingInfo | None:
        """Return what is known of an embedding; None until its file was read."""
        return self._infos.get(name)

    def describe(self, names: Iterable[str]) -> None:
        """Have the files of some names read, unless they were; `changed` tells of each part."""
        new = [name for name in names if name not in self._asked]
        self._asked.update(new)
        for at in range(0, len(new), _AT_ONCE):
            self._queries.add(self._client.describe_embeddings(new[at : at + _AT_ONCE]))

    def _on_listing(self, is_listing: bool) -> None:
        if not is_listing:
            # A file may be another one under the same name.
            self._asked.clear()
            self.changed.emit()

    def _on_described(self, event: EmbeddingsDescribed) -> None:
        if event.query in self._queries:
            self._queries.discard(event.query)
            self._infos |= {info.name: info for info in event.embeddings}
            self.changed.emit()

    def _on_failed(self, event: QueryFailed) -> None:
        # They are asked for again after the next listing.
        self._queries.discard(event.query)
