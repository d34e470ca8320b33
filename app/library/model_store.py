"""All of the user's files of weights as the engine lists them; the list follows the folders."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine.client import EngineClient
from app.library.checkpoints import STARTER_NAME
from app.library.folder_listing import FolderListing
from engine.api.messages import QueryFailed
from engine.api.model_files import ModelInfo
from engine.api.model_messages import ModelHashed, ModelHashing, ModelsFound, ModelsListed
from engine.api.values import ErrorInfo


class ModelStore(QObject):
    """The files of weights of every kind, the starter too, which has the starter's name.

    Nothing is listed before the first `refresh`.
    """

    changed = Signal()
    # True while files are listed or opened.
    listing_changed = Signal(bool)
    # str: the path of a file whose hash is known, is being computed, or could not be.
    hash_changed = Signal(str)

    def __init__(
        self,
        client: EngineClient,
        folders: Callable[[], Iterable[str]],
        starter: Path,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        """`folders` returns those to look into beside the folder of models."""
        super().__init__(parent)
        self._client, self._starter = client, str(starter)
        self.listing: FolderListing[ModelInfo] = FolderListing(
            lambda: (*folders(), self._starter), client.list_models, background, self
        )
        self.listing.changed.connect(self.changed)
        self.listing.listing_changed.connect(self.listing_changed)
        self.refresh = self.listing.refresh
        self._hashing: dict[str, int] = {}
        self._hash_queries: dict[int, str] = {}
        self._unhashed: set[str] = set()
        client.models_found.connect(self._on_found)
        client.models_listed.connect(self._on_listed)
        client.model_hashed.connect(self._on_hashed)
        client.model_hashing.connect(self._on_hashing)
        client.query_failed.connect(self._on_failed)
        client.families_known.connect(self._on_engine_started)

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """The files in the folders."""
        return tuple(self.listing.files.values())

    @property
    def has_own(self) -> bool:
        """True if the folders have a file beside the starter."""
        return any(not self.is_starter(file) for file in self.listing.files.values())

    def is_starter(self, model: ModelInfo) -> bool:
        """Return True for the model that comes with the application."""
        return model.path == self._starter

    @property
    def is_listed(self) -> bool:
        """False until the first list is complete."""
        return self.listing.is_listed

    @property
    def is_listing(self) -> bool:
        """True while files are listed or opened."""
        return self.listing.is_listing

    def info(self, path: str) -> ModelInfo | None:
        """Return the description of the file at a path; None if it is not in the list."""
        return self.listing.files.get(path)

    def hashed_percent(self, path: str) -> int | None:
        """Return how much of a file is hashed, in percent; None while it is not being hashed."""
        return self._hashing.get(path)

    def is_unhashed(self, path: str) -> bool:
        """Return True if a file's hash was asked for and could not be computed."""
        return path in self._unhashed

    def list_once(self) -> None:
        """List the folders unless that was asked for before."""
        if not self._was_asked_for:
            self.refresh()

    def refresh_if_asked_for(self) -> None:
        """List the folders again if their list was ever wanted."""
        if self._was_asked_for:
            self.refresh()

    @property
    def _was_asked_for(self) -> bool:
        return self.is_listed or self.is_listing or self.failure is not None

    @property
    def failure(self) -> ErrorInfo | None:
        """The failure of the latest list; None while it is made, and once it is complete."""
        return self.listing.failure

    def hash(self, path: str) -> None:
        """Have a file's SHA-256 computed in the background; `hash_changed` tells of it."""
        self._hashing[path] = 0
        self._unhashed.discard(path)
        self._hash_queries[self._client.hash_model(path)] = path
        self.hash_changed.emit(path)

    def _on_found(self, event: ModelsFound) -> None:
        if event.query == self.listing.query:
            self.listing.add(map(self._named, event.models))

    def _named(self, model: ModelInfo) -> ModelInfo:
        if not self.is_starter(model):
            return model
        return msgspec.structs.replace(model, name=STARTER_NAME)

    def _on_listed(self, event: ModelsListed) -> None:
        if event.query == self.listing.query:
            self.listing.finish(event.folders)

    def _on_hashed(self, event: ModelHashed) -> None:
        path = self._hash_queries.pop(event.query, None)
        if path is not None and event.sha256:
            self._keep_hash(path, event.sha256)

    def _on_hashing(self, event: ModelHashing) -> None:
        if event.failed:
            self._give_up(event.path)
        elif event.sha256:
            self._keep_hash(event.path, event.sha256)
        else:
            percent = 100 * event.done_bytes // max(1, event.total_bytes)
            self._hashing[event.path] = min(percent, 99)
            self.hash_changed.emit(event.path)

    def _keep_hash(self, path: str, sha256: str) -> None:
        self._hashing.pop(path, None)
        info = self.info(path)
        if info is not None:
            self.listing.files[path] = msgspec.structs.replace(info, sha256=sha256)
        self.hash_changed.emit(path)

    def _give_up(self, path: str) -> None:
        if self._hashing.pop(path, None) is not None:
            self._unhashed.add(path)
            self.hash_changed.emit(path)

    def _on_failed(self, event: QueryFailed) -> None:
        path = self._hash_queries.pop(event.query, None)
        if path is not None:
            self._give_up(path)
        elif event.query == self.listing.query:
            self.listing.fail(event.error)

    def _on_engine_started(self) -> None:
        """Give up the hashes that an engine which ended had begun."""
        for path in self._hashing.keys() - set(self._hash_queries.values()):
            self._give_up(path)
