"""Commands for the user's models: use them, move them to the trash, note, hash, folders."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import msgspec
from PySide6.QtCore import QObject, Signal

from app.commands.checkpoints import CheckpointCommands
from app.commands.model_rooms import ModelRooms
from app.commands.state import AppState
from app.library.checkpoint_declarations import CheckpointMemory
from app.library.trash import Trashed, move_to_trash, restore
from app.notices.remedies import NoticeAction
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.values import ErrorCode, ErrorInfo
from engine.folders import repository_of

# What the form does with a model of a kind.
Use = Callable[[ModelInfo], object]


class ModelCommands(QObject):
    """Acts on a model of the list; what removes or replaces something can be undone by a notice."""

    # A model was put into the form: the place to go on is Create.
    used = Signal()

    def __init__(
        self,
        state: AppState,
        rooms: ModelRooms,
        memory: CheckpointMemory,
        checkpoint: CheckpointCommands,
        uses: Mapping[ModelKind, Use],
        parent: QObject,
    ) -> None:
        """`uses` are those of kinds other than checkpoints and their parts."""
        super().__init__(parent)
        self._form, self._notices = state.form, state.notices
        self._checkpoints, self._background = state.checkpoints, state.background
        self._store, self._notes, self._memory = rooms.store, rooms.notes, memory
        self._changes, self._checkpoint = state.changes, checkpoint
        own: dict[ModelKind, Use] = {
            ModelKind.CHECKPOINT: self._use_checkpoint,
            ModelKind.VAE: self._use_vae,
        }
        self._uses = {**own, **uses}

    def can_use(self, model: ModelInfo) -> bool:
        """Return True if the form has a place for a model."""
        return not model.problem and model.kind in self._uses

    def is_in_use(self, model: ModelInfo) -> bool:
        """Return True for the checkpoint that the form has."""
        return model.kind is ModelKind.CHECKPOINT and Path(model.path) == self._form.checkpoint

    def can_trash(self, model: ModelInfo) -> bool:
        """Return True for a person's own file: the starter belongs to the application."""
        return not self._store.is_starter(model)

    def use(self, model: ModelInfo) -> bool:
        """Put a model into the form, at the place for its kind; return False if there is none."""
        can_use = self.can_use(model)
        if can_use:
            self._uses[model.kind](model)
            self.used.emit()
        return can_use

    def _use_checkpoint(self, model: ModelInfo) -> None:
        self._checkpoint.open(Path(model.path), model_name(model))

    def _use_vae(self, model: ModelInfo) -> None:
        self.supply(str(self._form.checkpoint), "vae", model.path)

    def supply(self, checkpoint: str, component: str, file: str) -> None:
        """Take a part of a checkpoint from another file, now and whenever it is chosen."""
        path = Path(checkpoint)
        before = getattr(self._memory.of(path).components, component)
        self._declare_part(path, component, file)
        self._notices.tell(
            self.tr("{name} is used with {file}.").format(
                name=path.name[:80], file=Path(file).name
            ),
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: self._declare_part(path, component, before),
        )

    def note(self, model: ModelInfo, text: str) -> None:
        """Keep a note on a model, which another thread writes."""
        self._notes.keep(model, text)
        self._background.run(self._notes.flush, lambda _: None)

    def note_of(self, model: ModelInfo) -> str:
        """Return the note on a model; empty without one."""
        return self._notes.of(model)

    def look(self, model: ModelInfo) -> None:
        """Have the engine say all that it knows of a checkpoint, which is not hashed for it."""
        if model.kind is ModelKind.CHECKPOINT and not model.problem:
            path = Path(model.path)
            declared = self._memory.of(path)
            self._checkpoints.look(path, declared.components, declared.override, will_be_used=False)

    def trash(self, model: ModelInfo) -> None:
        """Move a model to the system's trash, if it is a person's own."""
        if not self.can_trash(model):
            return
        path = model.path
        self._background.run(lambda: move_to_trash(path), self._on_trashed, must=True)

    def _declare_part(self, path: Path, component: str, file: str | None) -> None:
        before = self._memory.of(path)
        parts = msgspec.structs.replace(before.components, **{component: file})
        declared = msgspec.structs.replace(before, components=parts)
        if path == self._form.checkpoint:
            self._checkpoint.declare(declared)
        else:
            self._memory.keep(path, declared)
            self._checkpoints.look(path, parts, declared.override, will_be_used=False)

    def _on_trashed(self, trashed: Trashed) -> None:
        self._refresh()
        name = Path(trashed.path).name[:80]
        if trashed.moved:
            self._notices.tell(
                self.tr("{name} is in the trash.").format(name=name),
                actions=(NoticeAction.UNDO_TRASH,) if trashed.trash_path else (),
                undo=self._put_back(trashed),
            )
            return
        self._notices.tell_error(
            ErrorInfo(
                ErrorCode.OUTPUT_NOT_WRITABLE,
                self.tr("{name} could not be moved to the trash.").format(name=name),
                self._why_not_trashed(),
            )
        )

    def _why_not_trashed(self) -> str:
        # Elsewhere a file that is mapped can be moved.
        if sys.platform == "win32":
            return self.tr(
                "Pictures may have been made with it: Safelight lets go of a model five minutes"
                " after the last one. Or this folder has no trash; then delete it in Explorer."
            )
        return self.tr("Delete it in the file manager; this folder may have no trash.")

    def _put_back(self, trashed: Trashed) -> Callable[[], None]:
        def put_back() -> None:
            self._background.run(
                lambda: restore(trashed.trash_path, trashed.path), self._on_restored, must=True
            )

        return put_back

    def _on_restored(self, restored: bool) -> None:
        self._refresh()
        if not restored:
            self._notices.tell(
                self.tr("The file could not be put back."),
                self.tr("It is still in the trash of your system."),
            )

    def _refresh(self) -> None:
        self._store.refresh()
        self._checkpoints.refresh()


def model_name(model: ModelInfo) -> str:
    """Return the name of a model as people know it: its file's, without the folders.

    Of a folder in Hugging Face's cache, as SD.Next has it, the repository's.
    """
    path = PurePosixPath(model.name)
    return repository_of(path) or path.name
