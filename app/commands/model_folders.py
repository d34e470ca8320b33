"""The folders that are looked into for models, and those of other programs that were found."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.library.lora_store import LoraStore
from app.library.model_store import ModelStore
from app.library.tool_folders import ToolFolder, find_tools
from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction
from engine.file_paths import is_folder


class WatchedFolder(msgspec.Struct, frozen=True):
    """A folder that is looked into, with the number of its files of weights."""

    path: Path
    files: int = 0
    # Not there now, such as that of a disk that is taken out; it is not forgotten.
    is_missing: bool = False
    # False for the folder of models, and for those that the environment names.
    is_removable: bool = True


class _Looked(msgspec.Struct, frozen=True):
    missing: frozenset[Path]
    found: tuple[ToolFolder, ...]


class ModelFolders(QObject):
    """The folders of models; each serves files of every kind, and the command line, too."""

    changed = Signal()
    # The last file of a folder has gone, or its first one has come.
    came_or_went = Signal()

    def __init__(
        self,
        models: Path,
        environment: Iterable[Path],
        loras: LoraStore,
        store: ModelStore,
        background: Background,
        notices: NoticeState,
        parent: QObject,
    ) -> None:
        """`environment` are the folders that variables name; `models` is the usual one."""
        super().__init__(parent)
        self._fixed = tuple(dict.fromkeys((models, *environment)))
        self._loras, self._store, self._background = loras, store, background
        self._notices = notices
        self._missing: frozenset[Path] = frozenset()
        self._empty: frozenset[Path] = frozenset()
        # The folders of other programs that are not looked into yet.
        self.found: tuple[ToolFolder, ...] = ()
        loras.folders_changed.connect(self.changed)
        loras.folders_changed.connect(self.look)
        store.changed.connect(self._on_models)

    @property
    def watched(self) -> tuple[WatchedFolder, ...]:
        """The folders that are looked into, Safelight's own first."""
        fixed = (self._watched(path, is_removable=False) for path in self._fixed)
        return (*fixed, *(self._watched(path, is_removable=True) for path in self._named))

    @property
    def gone(self) -> tuple[Path, ...]:
        """The folders that a person added and that are not there now."""
        return tuple(path for path in self._named if path in self._missing)

    @property
    def _named(self) -> tuple[Path, ...]:
        return tuple(map(Path, self._loras.memory.folders))

    def add(self, folder: Path) -> None:
        """Look into another folder from now on."""
        self._loras.add_folder(folder)

    def remove(self, folder: Path) -> None:
        """Look into a folder no longer; its files stay where they are."""
        self._loras.remove_folder(str(folder))
        self._notices.tell(
            self.tr("{folder} is looked into no longer.").format(folder=str(folder)[-80:]),
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: self.add(folder),
        )

    def look(self) -> None:
        """Look for missing folders and for those of other programs, on another thread."""
        everything = (*self._fixed, *self._named)

        def look() -> _Looked:
            gone = frozenset(path for path in everything if not is_folder(path))
            return _Looked(gone, find_tools(Path.home(), everything))

        self._background.look(look, self._take)

    def _on_models(self) -> None:
        """Look for the folders where the last file of one, or the first, has come or gone."""
        everything = (*self._fixed, *self._named)
        empty = frozenset(path for path in everything if not any(self._inside(path)))
        if empty != self._empty:
            self._empty = empty
            self.look()
            self.came_or_went.emit()
        self.changed.emit()

    def _take(self, looked: _Looked) -> None:
        self._missing, self.found = looked.missing, looked.found
        self.changed.emit()

    def _watched(self, path: Path, *, is_removable: bool) -> WatchedFolder:
        files = sum(self._inside(path))
        return WatchedFolder(path, files, path in self._missing, is_removable)

    def _inside(self, folder: Path) -> Iterator[bool]:
        """Yield True for each model in a folder, False for each other one."""
        start = f"{str(folder).rstrip(os.sep)}{os.sep}"
        return (f"{model.path}{os.sep}".startswith(start) for model in self._store.models)
