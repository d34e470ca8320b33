"""Commands for the chosen checkpoint, and the questions to the engine that follow from them."""

from pathlib import Path

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.generation import COMMON_SUGGESTIONS, STARTER_LONGEST_SIDE, STARTER_SUGGESTIONS
from app.library.checkpoint_declarations import CheckpointDeclaration, CheckpointMemory
from engine.api.checkpoints import CheckpointInfo
from engine.api.values import ErrorInfo


class CheckpointCommands(QObject):
    """Chooses checkpoints, and keeps the engine's answers on the chosen one up to date.

    The engine inspects the checkpoint again whenever it, its parts or its declaration change.
    """

    def __init__(self, state: AppState, memory: CheckpointMemory, parent: QObject) -> None:
        super().__init__(parent)
        self._changes = state.changes
        self._form, self._checkpoints, self._memory = state.form, state.checkpoints, memory
        self._suggest(self._form.checkpoint)
        self._inspected_parts = self._form.used_components
        self._form.checkpoint_changed.connect(self._on_checkpoint_changed)
        self._form.declaration_changed.connect(self.inspect)
        self._form.components_changed.connect(self._on_components_changed)
        self._checkpoints.looked.connect(self._on_looked)
        self._checkpoints.changed.connect(self._on_checkpoints)

    def open(self, path: Path, name: str = "") -> None:
        """Use a checkpoint where it lies, told by `name` or its file's; nothing is copied."""
        self._changes.open_checkpoint(path, name)

    def choose(self, path: Path) -> None:
        """Use a checkpoint of the list."""
        self._changes.choose_checkpoint(path)

    def declare(self, declaration: CheckpointDeclaration) -> None:
        """Apply the user's declaration to the chosen checkpoint, now and whenever it is chosen."""
        self._memory.keep(self._form.checkpoint, declaration)
        self._form.declaration = declaration

    def declared(self, path: Path) -> CheckpointDeclaration:
        """Return what the user declared of a checkpoint."""
        return self._memory.of(path)

    def inspect(self) -> None:
        """Have the engine inspect the chosen checkpoint with its parts and its declaration."""
        form = self._form
        self._inspected_parts = form.used_components
        self._checkpoints.look(form.checkpoint, form.used_components, form.declaration.override)

    def look_again(self) -> None:
        """Read the models folder again; inspect a checkpoint that could not be read."""
        self._checkpoints.refresh()
        if isinstance(self._checkpoints.answer(self._form.checkpoint), ErrorInfo):
            # The file may have been repaired.
            self.inspect()

    def inspect_prediction(self) -> None:
        """Inspect the chosen checkpoint after a job, unless its file states its prediction.

        The job's denoiser may have shown the prediction type.
        """
        answer = self._checkpoints.answer(self._form.checkpoint)
        if isinstance(answer, CheckpointInfo) and not answer.prediction_is_stated:
            self.inspect()

    def _on_checkpoint_changed(self, path: Path) -> None:
        self._checkpoints.chosen = path
        self._suggest(path)
        before, self._form.declaration = self._form.declaration, self._memory.of(path)
        if before == self._form.declaration:
            # Otherwise `declaration_changed` has had it inspected. A known file may have changed.
            self.inspect()

    def _suggest(self, path: Path) -> None:
        answer = self._checkpoints.answer(path)
        is_starter = path == self._checkpoints.starter
        if isinstance(answer, CheckpointInfo):
            self._form.suggest(answer, STARTER_LONGEST_SIDE if is_starter else None)
        else:
            self._form.suggestions = STARTER_SUGGESTIONS if is_starter else COMMON_SUGGESTIONS

    def _on_checkpoints(self) -> None:
        """Inspect the chosen checkpoint if its file has gone or has come back."""
        path = self._form.checkpoint
        answer = self._checkpoints.answer(path)
        if self._checkpoints.is_gone(path) != isinstance(answer, ErrorInfo) and answer is not None:
            self.inspect()

    def _on_components_changed(self) -> None:
        if self._form.used_components != self._inspected_parts:
            self.inspect()

    def _on_looked(self, path: Path, answer: CheckpointInfo | ErrorInfo) -> None:
        if path == self._form.checkpoint and isinstance(answer, CheckpointInfo):
            self._suggest(path)
