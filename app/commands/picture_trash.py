"""Moves pictures to the system's trash and back."""

from pathlib import Path

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.library.trash import Trashed, move_to_trash, restore
from app.notices.remedies import NoticeAction
from engine.api.values import ErrorCode, ErrorInfo


class PictureTrash(QObject):
    """Moves pictures to the trash on another thread, and adds a notice of the result."""

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._gallery, self._view = state.gallery, state.view
        self._notices, self._background = state.notices, state.background

    def move(self, path: str) -> None:
        """Move a picture to the system's trash."""
        following = self._neighbour(path)
        if path == self._view.path:
            self._view.path = following

        self._background.run(lambda: move_to_trash(path), self._on_trashed)

    def _restore(self, trash_path: str, path: str) -> None:
        self._background.run(
            lambda: restore(trash_path, path),
            lambda restored: self._on_restored(path, restored=restored),
        )

    def _neighbour(self, path: str) -> str | None:
        """Return the picture to show once this one is gone; None if there is no other."""
        row = self._gallery.row_of(path)
        if row is None or len(self._gallery) < 2:
            return None
        return self._gallery[row + 1 if row + 1 < len(self._gallery) else row - 1].path

    def _on_trashed(self, trashed: Trashed) -> None:
        self._gallery.refresh()
        name = Path(trashed.path).name
        if trashed.moved:
            undo = (NoticeAction.UNDO_TRASH,) if trashed.trash_path else ()
            self._notices.tell(
                self.tr("{name} is in the trash.").format(name=name),
                actions=undo,
                undo=lambda: self._restore(trashed.trash_path, trashed.path),
            )
        else:
            self._notices.tell_error(
                ErrorInfo(
                    ErrorCode.OUTPUT_NOT_WRITABLE,
                    self.tr("{name} could not be moved to the trash.").format(name=name),
                    self.tr("Delete it in the file manager; this folder may have no trash."),
                )
            )

    def _on_restored(self, path: str, *, restored: bool) -> None:
        self._gallery.refresh()
        if not restored:
            name = Path(path).name
            self._notices.tell(
                self.tr("{name} could not be put back.").format(name=name),
                self.tr("It is still in the trash of your system."),
            )
