"""All of the user's files of weights as the engine lists them; the list follows the folders."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.engine.client import EngineClient
from app.library.checkpoint_store import ENGINE_FAILURES
from engine.api.messages import QueryFailed
from engine.api.model_files import ModelInfo
from engine.api.model_messages import ModelHashed, ModelHashing, ModelsFound, ModelsListed
from engine.file_paths import is_folder

# Changes to a folder come in bursts: a download is a temporary file, a rename and its card.
_SETTLE_MS = 300
# While files are read for the first time, the list is shown anew at most this often.
_SHOWN_MS = 150
# A system watches a limited number of folders; those beyond are read when the page is opened.
_MOST_WATCHED = 1000


class ModelStore(QObject):
    """The files of weights of every kind; nothing is listed before the first `refresh`."""

    changed = Signal()
    # True while files are listed or opened.
    listing_changed = Signal(bool)
    # str: the path of a file whose hash is known or is being computed.
    hash_changed = Signal(str)

    def __init__(
        self,
        client: EngineClient,
        folders: Callable[[], Iterable[str]],
        parent: QObject | None = None,
    ) -> None:
        """`folders` returns those to look into beside the folder of models."""
        super().__init__(parent)
        self._client, self._folders = client, folders
        self._models: dict[str, ModelInfo] = {}
        # False until the first list is complete.
        self.is_listed = False
        self._query: int | None = None
        self._seen: set[str] = set()
        self._stale = self._again = False
        self._hashing: dict[str, int] = {}
        self._hash_queries: dict[int, str] = {}
        self._shown = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._shown.timeout.connect(self.changed)
        self._watcher = QFileSystemWatcher(self)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(self._settled.start)
        client.models_found.connect(self._on_found)
        client.models_listed.connect(self._on_listed)
        client.model_hashed.connect(self._on_hashed)
        client.model_hashing.connect(self._on_hashing)
        client.query_failed.connect(self._on_failed)

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """The files in the folders."""
        return tuple(self._models.values())

    @property
    def is_listing(self) -> bool:
        """True while files are listed or opened."""
        return self._query is not None

    @property
    def is_asked_for(self) -> bool:
        """True once somebody wanted the list."""
        return self.is_listed or self.is_listing

    def info(self, path: str) -> ModelInfo | None:
        """Return the description of the file at a path; None if it is not in the list."""
        return self._models.get(path)

    def hashed_percent(self, path: str) -> int | None:
        """Return how much of a file is hashed, in percent; None while it is not being hashed."""
        return self._hashing.get(path)

    def refresh(self) -> None:
        """Have the engine list the folders again."""
        if self._query is not None:
            self._stale = True
            return
        self._seen = set()
        self._query = self._client.list_models(self._folders())
        self.listing_changed.emit(True)

    def refresh_if_asked_for(self) -> None:
        """List the folders again if their list was ever wanted."""
        if self.is_asked_for:
            self.refresh()

    def hash(self, path: str) -> None:
        """Have a file's SHA-256 computed in the background; `hash_changed` tells of it."""
        self._hashing[path] = 0
        self._hash_queries[self._client.hash_model(path)] = path
        self.hash_changed.emit(path)

    def _on_found(self, event: ModelsFound) -> None:
        if event.query != self._query:
            return
        for info in event.models:
            self._seen.add(info.path)
            if info.is_read or info.path not in self._models:
                self._models[info.path] = info
        if not self._shown.isActive():
            self._shown.start()

    def _on_listed(self, event: ModelsListed) -> None:
        if event.query != self._query:
            return
        self._models = {path: one for path, one in self._models.items() if path in self._seen}
        self.is_listed, self._again = True, False
        self._watch(event.folders)
        self._shown.stop()
        self._end()
        self.changed.emit()

    def _on_hashed(self, event: ModelHashed) -> None:
        path = self._hash_queries.pop(event.query, None)
        if path is not None and event.sha256:
            self._keep_hash(path, event.sha256)

    def _on_hashing(self, event: ModelHashing) -> None:
        if event.sha256:
            self._keep_hash(event.path, event.sha256)
            return
        self._hashing[event.path] = min(100 * event.done_bytes // max(1, event.total_bytes), 99)
        self.hash_changed.emit(event.path)

    def _keep_hash(self, path: str, sha256: str) -> None:
        self._hashing.pop(path, None)
        info = self._models.get(path)
        if info is not None:
            self._models[path] = msgspec.structs.replace(info, sha256=sha256)
        self.hash_changed.emit(path)

    def _on_failed(self, event: QueryFailed) -> None:
        path = self._hash_queries.pop(event.query, None)
        if path is not None:
            self._hashing.pop(path, None)
            self.hash_changed.emit(path)
        elif event.query == self._query:
            # Once only: a file may have made the engine fail.
            again, self._again = self._again, not self._again
            self._end()
            if event.error.code in ENGINE_FAILURES and not again:
                self.refresh()

    def _end(self) -> None:
        self._query = None
        self.listing_changed.emit(False)
        if self._stale:
            self._stale = False
            self.refresh()

    def _watch(self, folders: Iterable[str]) -> None:
        listed = tuple(folders)[:_MOST_WATCHED]
        # A folder that is moved away, or a disk that is taken out, changes the one it is in.
        parents = {str(Path(folder).parent) for folder in (*listed, *self._folders())}
        wanted = {*listed, *filter(_is_there, parents)}
        watched = set(self._watcher.directories())
        if gone := watched - wanted:
            self._watcher.removePaths(tuple(gone))
        if new := wanted - watched:
            self._watcher.addPaths(tuple(new))
            # To find the changes between the listing and the watching.
            self._settled.start()


def _is_there(folder: str) -> bool:
    return is_folder(Path(folder))
