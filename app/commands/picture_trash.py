"""Moves pictures to the system's trash and back."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec
from PySide6.QtCore import QLocale, QObject, Signal

from app.commands.state import AppState
from app.library.trash import Trashed, move_to_trash, restore
from app.notices.remedies import NoticeAction
from engine.api.values import ErrorCode, ErrorInfo
from engine.file_paths import exists


class PictureTrash(QObject):
    """Moves pictures to the trash on another thread, and adds a notice of the result."""

    # The paths of files that went to the trash, and of those that came back.
    trashed = Signal(object)
    restored = Signal(object)

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._pictures, self._view = state.output_pictures, state.view
        self._notices, self._background = state.notices, state.background

    def move(self, paths: Sequence[str]) -> None:
        """Move pictures to the system's trash, together."""
        shown = self._view.path
        if shown is not None and shown in paths:
            self._view.path = self._neighbour(shown, set(paths))

        self._background.run(
            lambda: [_with_sidecar(path) for path in paths], self._on_trashed, must=True
        )

    def _restore(self, trashed: Sequence[Trashed]) -> None:
        def put_back() -> list[str]:
            left = [
                picture.path for picture in trashed if not restore(picture.trash_path, picture.path)
            ]
            for picture in trashed:
                for sidecar in picture.beside:
                    restore(sidecar.trash_path, sidecar.path)
            return left

        def end(left: Sequence[str]) -> None:
            self.restored.emit({picture.path for picture in trashed}.difference(left))
            self._on_restored(left)

        self._background.run(put_back, end, must=True)

    def _neighbour(self, path: str, gone: set[str]) -> str | None:
        """Return the picture to show once some are gone; None if there is no other."""
        row = self._pictures.row_of(path)
        if row is None:
            return None
        after = (self._pictures[at].path for at in range(row + 1, len(self._pictures)))
        before = (self._pictures[at].path for at in range(row - 1, -1, -1))
        return next((path for path in chain(after, before) if path not in gone), None)

    def _on_trashed(self, trashed: Sequence[Trashed]) -> None:
        self._pictures.refresh()
        moved = [picture for picture in trashed if picture.moved]
        left = [picture for picture in trashed if not picture.moved]
        if moved:
            self.trashed.emit({picture.path for picture in moved})
            self._tell_moved(moved)
        if left:
            name = self._name(left)
            self._notices.tell_error(
                ErrorInfo(
                    ErrorCode.OUTPUT_NOT_WRITABLE,
                    self.tr("{name} could not be moved to the trash.").format(name=name),
                    self.tr("Delete it in the file manager; this folder may have no trash."),
                )
            )

    def _tell_moved(self, moved: Sequence[Trashed]) -> None:
        # Some systems do not tell where a file is in their trash.
        known = [picture for picture in moved if picture.trash_path]
        if len(moved) == 1:
            message = self.tr("{name} is in the trash.").format(name=self._name(moved))
        else:
            message = self.tr("{name} are in the trash.").format(name=self._name(moved))
        self._notices.tell(
            message,
            actions=(NoticeAction.UNDO_TRASH,) if known else (),
            undo=lambda: self._restore(known),
        )

    def _on_restored(self, left: Sequence[str]) -> None:
        self._pictures.refresh()
        if left:
            name = Path(left[0]).name if len(left) == 1 else self._several(len(left))
            self._notices.tell(
                self.tr("{name} could not be put back.").format(name=name),
                self.tr("It is still in the trash of your system."),
            )

    def _name(self, trashed: Sequence[Trashed]) -> str:
        return Path(trashed[0].path).name if len(trashed) == 1 else self._several(len(trashed))

    def _several(self, count: int) -> str:
        return self.tr("{n} pictures").format(n=QLocale().toString(count))


def _with_sidecar(path: str) -> Trashed:
    """Move a picture to the trash with its sidecar, which would else be left behind."""
    # Here, as the window starts sooner without the gallery's code.
    from app.gallery.listing import SIDECAR_SUFFIX

    trashed, sidecar = move_to_trash(path), f"{path}{SIDECAR_SUFFIX}"
    if not trashed.moved or not exists(sidecar):
        return trashed
    beside = move_to_trash(sidecar)
    return msgspec.structs.replace(trashed, beside=(beside,) if beside.trash_path else ())
