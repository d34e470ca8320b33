"""Commands for the second passes of the form."""

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.changes import FormChanges
from engine.api.second_passes import MAX_SECOND_PASSES, SecondPass


class SecondPassCommands(QObject):
    """Adds, changes and removes second passes; a removed one can be put back by a notice."""

    def __init__(self, state: AppState, changes: FormChanges, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._changes = state.form, changes

    @property
    def has_room(self) -> bool:
        """True if there can be one more."""
        return len(self._form.second_passes) < MAX_SECOND_PASSES

    def add(self) -> None:
        """Add a pass of twice the size."""
        if self.has_room:
            self._form.second_passes = (*self._form.second_passes, SecondPass())

    def change(self, at: int, changed: SecondPass) -> None:
        """Put a changed pass in the place of one."""
        passes = self._form.second_passes
        self._form.second_passes = (*passes[:at], changed, *passes[at + 1 :])

    def remove(self, at: int) -> None:
        """Remove a pass."""
        passes = self._form.second_passes
        rest = (*passes[:at], *passes[at + 1 :])

        def put() -> None:
            self._form.second_passes = rest

        self._changes.apply(self.tr("The picture is not enlarged a second time."), put)
