"""The user's LoRA files as the engine lists them; the list follows the folders."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine.client import EngineClient
from app.library.folder_listing import FolderListing
from app.library.lora_memory import LoraMemory
from app.library.lora_names import LoraNames
from engine.api.lora_files import LoraInfo
from engine.api.messages import LoraInspected, LorasFound, LorasListed, QueryFailed
from engine.api.values import ErrorInfo


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
        background: Background,
        always: Iterable[Path] = (),
        parent: QObject | None = None,
    ) -> None:
        """`always` are folders that are looked into beside those in `memory`."""
        super().__init__(parent)
        self._client = client
        self.memory = memory
        self.listing: FolderListing[LoraInfo] = FolderListing(
            lambda: (*map(str, always), *memory.folders), client.list_loras, background, self
        )
        self.listing.changed.connect(self.changed)
        self.listing.listing_changed.connect(self.listing_changed)
        self.refresh = self.listing.refresh
        # Made anew after changes of the list.
        self._names: LoraNames | None = None
        # Files that `look` found, in a listed folder or elsewhere.
        self._elsewhere: dict[str, LoraInfo] = {}
        # The names of the embeddings that prompts may name; the engine lists them with the LoRAs.
        self.embeddings: tuple[str, ...] = ()
        self._looking: dict[int, str] = {}
        client.loras_found.connect(self._on_found)
        client.loras_listed.connect(self._on_listed)
        client.lora_inspected.connect(self._on_inspected)
        client.query_failed.connect(self._on_failed)

    @property
    def loras(self) -> tuple[LoraInfo, ...]:
        """The files in the listed folders."""
        return tuple(self.listing.files.values())

    @property
    def is_listed(self) -> bool:
        """False until the first list is complete."""
        return self.listing.is_listed

    @property
    def is_listing(self) -> bool:
        """True while files are listed or opened."""
        return self.listing.is_listing

    @property
    def failure(self) -> ErrorInfo | None:
        """The failure of the latest list; None while it is made, and once it is complete."""
        return self.listing.failure

    def info(self, path: str) -> LoraInfo | None:
        """Return the description of the file at a path; None if it is not known."""
        return self.listing.files.get(path) or self._elsewhere.get(path)

    def find(self, name: str, digits: str | None = None) -> LoraInfo | None:
        """Return the file that a request names by path, name or hash; None without one."""
        return self.info(name) or next(iter(self.names.meant_by(name, digits)), None)

    @property
    def names(self) -> LoraNames:
        """The names of the listed files."""
        if self._names is None:
            self._names = LoraNames(self.listing.files.values())
        return self._names

    def look(self, path: str) -> None:
        """Have the engine describe one file, wherever it lies; `looked` answers."""
        self._looking[self._client.inspect_lora(path)] = path

    def look_again(self, path: str) -> None:
        """Have the engine describe a file again that it found by `look` alone."""
        if path in self._elsewhere and path not in self.listing.files:
            self.look(path)

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
        if event.query == self.listing.query:
            self._names = None
            self.listing.add(event.loras)

    def _on_listed(self, event: LorasListed) -> None:
        if event.query == self.listing.query:
            self._names = None
            self.embeddings = event.embeddings
            self.listing.finish(event.folders)

    def _on_inspected(self, event: LoraInspected) -> None:
        path = self._looking.pop(event.query, None)
        if path is None:
            return
        self._elsewhere[path] = event.lora
        self.changed.emit()
        self.looked.emit(path, event.lora)

    def _on_failed(self, event: QueryFailed) -> None:
        path = self._looking.pop(event.query, None)
        if path is not None:
            if self._elsewhere.pop(path, None) is not None:
                self.changed.emit()
            self.looked.emit(path, event.error)
        elif event.query == self.listing.query:
            self.listing.fail(event.error)
