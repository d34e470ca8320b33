"""Commands for the second passes of the form."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.commands.state import AppState
from app.form.layer_kinds import is_whole_path
from app.form.stated_digests import without_old_digests
from engine.api.model_files import ModelInfo
from engine.api.second_passes import MAX_SECOND_PASSES, SecondPass


class SecondPassCommands(QObject):
    """Adds, changes and removes second passes; a removed one can be put back by a notice."""

    # The index of a pass that is new, or that was changed elsewhere: it should be seen.
    shown = Signal(int)

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._changes = state.form, state.changes
        self._checkpoints = state.checkpoints
        self._asked = set[str]()
        state.form.second_passes_changed.connect(self._on_passes)

    @property
    def has_room(self) -> bool:
        """True if there can be one more."""
        return len(self._form.second_passes) < MAX_SECOND_PASSES

    def _on_passes(self, passes: Sequence[SecondPass]) -> None:
        """Have the engine inspect models of passes' own once, by which their methods are known."""
        for path in {each.checkpoint for each in passes if each.checkpoint is not None}:
            is_known = Path(path) == self._form.checkpoint or self._checkpoints.answer(Path(path))
            if not is_known and path not in self._asked and is_whole_path(path):
                self._asked.add(path)
                self._checkpoints.look(Path(path), will_be_used=False)

    def add(self) -> None:
        """Add a pass of twice the size."""
        if self.has_room:
            self._form.second_passes = (*self._form.second_passes, SecondPass())
            self.shown.emit(len(self._form.second_passes) - 1)

    def use_upscaler(self, model: ModelInfo) -> None:
        """Enlarge by an upscaler: in the last pass, or in a new one."""
        passes = self._form.second_passes
        *before, last = passes or (SecondPass(),)
        wanted = msgspec.structs.replace(last, upscaler=model.path)
        changed = without_old_digests(last, wanted)

        def put() -> None:
            self._form.second_passes = (*before, changed)

        message = self.tr("{name} enlarges the next pictures.")
        self._changes.apply(message.format(name=Path(model.path).name[:80]), put)
        self.shown.emit(len(before))

    def change(self, at: int, changed: SecondPass) -> None:
        """Put a changed pass in the place of one."""
        passes = self._form.second_passes
        changed = without_old_digests(passes[at], changed)
        self._form.second_passes = (*passes[:at], changed, *passes[at + 1 :])

    def remove(self, at: int) -> None:
        """Remove a pass."""
        passes = self._form.second_passes
        rest = (*passes[:at], *passes[at + 1 :])

        def put() -> None:
            self._form.second_passes = rest

        self._changes.apply(self.tr("The picture is not enlarged a second time."), put)
