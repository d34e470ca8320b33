"""The user's models with all that belongs to them, wired together."""

from PySide6.QtCore import QObject

from app.commands.downloads import DownloadCommands
from app.commands.getting import ModelGetting
from app.commands.model_folders import ModelFolders
from app.commands.state import AppState
from app.downloads.site_keys import SiteKeys
from app.downloads.terms import Terms
from app.library.lora_store import LoraStore
from app.library.model_notes import ModelNotes
from app.library.model_store import ModelStore
from app.library.moved_files import MovedFiles
from app.paths import Paths


class ModelRooms(QObject):
    """The list of models, its folders and notes, and the road by which more come."""

    def __init__(
        self,
        paths: Paths,
        state: AppState,
        loras: LoraStore,
        downloads: DownloadCommands,
        keys: SiteKeys,
        terms: Terms,
        parent: QObject,
    ) -> None:
        """`downloads` follow the `terms`, which know the `keys`."""
        super().__init__(parent)
        self._state, self._loras, self._keys = state, loras, keys
        named = (*paths.loras, *paths.embeddings)
        self.store = ModelStore(
            state.client,
            lambda: (*map(str, named), *loras.memory.folders),
            state.checkpoints.starter,
            state.background,
            self,
        )
        self.moved = MovedFiles(state.client, state.background, self)
        self.store.listing_changed.connect(self._on_listing)
        self.notes = ModelNotes(paths.state)
        self.folders = ModelFolders(
            paths.models, named, loras, self.store, state.background, state.notices, self
        )
        self.getting = ModelGetting(paths.models, downloads, state.background, keys, terms, self)
        self.getting.arrived.connect(self._list_again)
        for changed in (loras.folders_changed, self.folders.came_or_went):
            changed.connect(state.checkpoints.refresh)
        loras.folders_changed.connect(self.store.refresh_if_asked_for)

    @property
    def memories(self) -> tuple[ModelNotes, SiteKeys]:
        """The files of the state folder, each with the problem that reading it had."""
        return self.notes, self._keys

    def _on_listing(self, is_listing: bool) -> None:
        if not is_listing:
            self.moved.look_again()

    def _list_again(self, _path: str) -> None:
        """List a model that was downloaded, whatever it is."""
        self.store.refresh()
        self._state.checkpoints.refresh()
        self._loras.refresh()
