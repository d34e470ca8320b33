"""The user's LoRA files as the engine lists them; the list follows the folders."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.engine.client import EngineClient
from app.library.checkpoint_store import ENGINE_FAILURES
from app.library.lora_memory import LoraMemory
from app.library.lora_names import LoraNames
from engine.api.lora_files import LoraInfo
from engine.api.messages import LoraInspected, LorasFound, LorasListed, QueryFailed
from engine.api.values import ErrorInfo
from engine.file_paths import is_folder

# Changes to a folder come in bursts: a download is a temporary file, a rename and its card.
_SETTLE_MS = 300
# While files are read for the first time, the list is shown anew at most this often.
_SHOWN_MS = 100
# A system watches a limited number of folders; those beyond are read when the window comes forward.
_MOST_WATCHED = 1000


class LoraStore(QObject):
    """The LoRA files in the listed folders, and single files elsewhere that were asked for.

    `changed` is emitted after each change of the list or of what is known about a file in it.
    """

    changed = Signal()
    # Path, then LoraInfo or ErrorInfo: the answer to `look`.
    looked = Signal(str, object)
    # True while files are listed or opened.
    listing_changed = Signal(bool)
    # The folders to look into are others.
    folders_changed = Signal()

    def __init__(
        self,
        client: EngineClient,
        memory: LoraMemory,
        always: Iterable[Path] = (),
        parent: QObject | None = None,
    ) -> None:
        """`always` are folders that are looked into beside those in `memory`."""
        super().__init__(parent)
        self._client = client
        self.memory = memory
        self._always = tuple(map(str, always))
        self._listed: dict[str, LoraInfo] = {}
        # Made anew after changes of the list.
        self._names: LoraNames | None = None
        # Files that `look` found, in a listed folder or elsewhere.
        self._elsewhere: dict[str, LoraInfo] = {}
        # The names of the embeddings that prompts may name; the engine lists them with the LoRAs.
        self.embeddings: tuple[str, ...] = ()
        # False until the first list is complete.
        self.is_listed = False
        self._query: int | None = None
        self._seen: set[str] = set()
        self._stale = self._again = False
        self._looking: dict[int, str] = {}
        self._shown = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._shown.timeout.connect(self.changed)
        self._watcher = QFileSystemWatcher(self)
        self._parents: set[str] = set()
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(self._settled.start)
        client.loras_found.connect(self._on_found)
        client.loras_listed.connect(self._on_listed)
        client.lora_inspected.connect(self._on_inspected)
        client.query_failed.connect(self._on_failed)

    @property
    def loras(self) -> tuple[LoraInfo, ...]:
        """The files in the listed folders."""
        return tuple(self._listed.values())

    @property
    def is_listing(self) -> bool:
        """True while files are listed or opened."""
        return self._query is not None

    def info(self, path: str) -> LoraInfo | None:
        """Return the description of the file at a path; None if it is not known."""
        return self._listed.get(path) or self._elsewhere.get(path)

    def find(self, name: str, digits: str | None = None) -> LoraInfo | None:
        """Return the file that a request names by path, name or hash; None without one."""
        return self.info(name) or next(iter(self.names.meant_by(name, digits)), None)

    @property
    def names(self) -> LoraNames:
        """The names of the listed files."""
        if self._names is None:
            self._names = LoraNames(self._listed.values())
        return self._names

    def refresh(self) -> None:
        """Have the engine list the folders again."""
        if self._query is not None:
            self._stale = True
            return
        self._seen = set()
        self._query = self._client.list_loras((*self._always, *self.memory.folders))
        self.listing_changed.emit(True)

    def look(self, path: str) -> None:
        """Have the engine describe one file, wherever it lies; `looked` answers."""
        self._looking[self._client.inspect_lora(path)] = path

    def add_folder(self, folder: Path) -> None:
        """Look into another folder from now on."""
        if self.memory.add_folder(folder):
            self.refresh()
            self.folders_changed.emit()

    def remove_folder(self, folder: str) -> None:
        """Look into a folder no longer."""
        self.memory.remove_folder(folder)
        self.refresh()
        self.folders_changed.emit()

    def _on_found(self, event: LorasFound) -> None:
        if event.query != self._query:
            return
        for info in event.loras:
            known = self._listed.get(info.path)
            self._seen.add(info.path)
            if info.is_read or known is None:
                self._listed[info.path] = info
        self._names = None
        self._show_soon()

    def _on_listed(self, event: LorasListed) -> None:
        if event.query != self._query:
            return
        self._listed = {path: one for path, one in self._listed.items() if path in self._seen}
        self._names = None
        self.is_listed, self._again = True, False
        self.embeddings = event.embeddings
        self._watch(event.folders)
        self._end()
        self._shown.stop()
        self.changed.emit()

    def _on_inspected(self, event: LoraInspected) -> None:
        path = self._looking.pop(event.query, None)
        if path is None:
            return
        if not event.lora.problem:
            self._elsewhere[path] = event.lora
            self.changed.emit()
        self.looked.emit(path, event.lora)

    def _on_failed(self, event: QueryFailed) -> None:
        path = self._looking.pop(event.query, None)
        if path is not None:
            if self._elsewhere.pop(path, None) is not None:
                self.changed.emit()
            self.looked.emit(path, event.error)
        elif event.query == self._query:
            self._on_list_failed(event.error)

    def _on_list_failed(self, error: ErrorInfo) -> None:
        # Once only: a file may have made the engine fail.
        again, self._again = self._again, not self._again
        self._end()
        if error.code in ENGINE_FAILURES and not again:
            self.refresh()

    def _end(self) -> None:
        self._query = None
        self.listing_changed.emit(False)
        if self._stale:
            self._stale = False
            self.refresh()

    def _show_soon(self) -> None:
        if not self._shown.isActive():
            self._shown.start()

    def _watch(self, folders: Iterable[str]) -> None:
        listed = tuple(folders)[:_MOST_WATCHED]
        # A folder that is moved away, and comes back, changes only the one that it is in.
        self._parents |= {str(Path(folder).parent) for folder in listed}
        wanted = {*listed, *filter(is_folder, self._parents)}
        watched = set(self._watcher.directories())
        if gone := watched - wanted:
            self._watcher.removePaths(tuple(gone))
        if new := wanted - watched:
            self._watcher.addPaths(tuple(new))
            # To find the changes between the listing and the watching.
            self._settled.start()
