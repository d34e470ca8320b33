"""The reason why the form cannot make a picture, as far as it is known without trying."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.field import Field
from app.form.generation import GenerationState
from app.library.checkpoint_store import CheckpointStore
from app.notices.wording import worded
from engine.api.checkpoints import CheckpointInfo
from engine.api.values import ErrorCode, ErrorInfo, InputRole
from engine.file_paths import is_file

# Errors of the file itself; all others may be temporary.
_BROKEN = frozenset(
    {
        ErrorCode.CHECKPOINT_NOT_FOUND,
        ErrorCode.CHECKPOINT_UNREADABLE,
        ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
        ErrorCode.CHECKPOINT_TRUNCATED,
        ErrorCode.CHECKPOINT_CORRUPT,
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        ErrorCode.CHECKPOINT_INCOMPLETE,
        ErrorCode.CHECKPOINT_MISMATCH,
    }
)


class ObstacleState(QObject):
    """The obstacle to the form's next picture; follows its checkpoint and its input pictures."""

    found_changed = Signal(object)

    # The error that every job would end with; None if none is known.
    found = Field[ErrorInfo | None](None)

    def __init__(
        self,
        form: GenerationState,
        checkpoints: CheckpointStore,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._checkpoints, self._background = form, checkpoints, background
        # Paths of input pictures that do not exist.
        self._gone: frozenset[str] = frozenset()
        form.checkpoint_changed.connect(self._refresh)
        form.inputs_changed.connect(self.look_again)
        form.controls_changed.connect(self._refresh)
        checkpoints.looked.connect(self._refresh)

    def look_again(self) -> None:
        """Check on another thread that the input pictures exist."""
        paths = [image.path for image in self._form.inputs]
        if paths:
            self._background.look(lambda: _gone(paths), self._on_gone)
        else:
            self._on_gone(frozenset())

    def _on_gone(self, gone: frozenset[str]) -> None:
        self._gone = gone
        self._refresh()

    def _refresh(self) -> None:
        self.found = self._of_checkpoint() or self._of_map() or self._of_pictures()

    def _of_checkpoint(self) -> ErrorInfo | None:
        answer = self._checkpoints.answer(self._form.checkpoint)
        if isinstance(answer, ErrorInfo):
            return answer if answer.code in _BROKEN else None
        if answer is None or not answer.missing:
            return None
        labels = {gap.component: gap.label for gap in answer.gaps}
        parts = ", ".join(worded(labels.get(part, part)) for part in answer.missing)
        return ErrorInfo(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            self.tr("{name} lacks a part: {parts}.").format(
                name=self._form.checkpoint.name[:80], parts=parts
            ),
            self.tr("Choose a file for it."),
        )

    def _of_map(self) -> ErrorInfo | None:
        """Return the obstacle of a model that itself follows a map, and has none."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        if not isinstance(answer, CheckpointInfo) or not answer.features.follows_map:
            return None
        layers = (layer for layer in self._form.controls if layer.network is None)
        if any(layer.enabled and layer.image and not layer.is_reference for layer in layers):
            return None
        return ErrorInfo(
            ErrorCode.REQUEST_INVALID,
            self.tr("{name} follows the lines or depth of a picture, and there is none.").format(
                name=self._form.checkpoint.name[:80]
            ),
            self.tr("Add a control layer, and choose the picture that it follows."),
        )

    def _of_pictures(self) -> ErrorInfo | None:
        gone = next((image for image in self._form.inputs if image.path in self._gone), None)
        if gone is None:
            return None
        is_mask = gone.role is InputRole.MASK
        name = Path(gone.path).name[:80]
        if gone.role is InputRole.REFERENCE:
            return ErrorInfo(
                ErrorCode.INPUT_IMAGE_UNREADABLE,
                self.tr("The reference picture {name} is gone.").format(name=name),
                self.tr("Choose it again, or remove it."),
            )
        return ErrorInfo(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            self.tr("The mask of the start picture is gone.")
            if is_mask
            else self.tr("The start picture {name} is gone.").format(name=name),
            self.tr("Paint it anew, or remove the start picture.")
            if is_mask
            else self.tr("Choose it again, or remove it."),
        )


def _gone(paths: Sequence[str]) -> frozenset[str]:
    return frozenset(path for path in paths if not is_file(path))
