"""Commands for reference pictures: add one, take one out. Each can be undone."""

from pathlib import Path

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.references import references_in, with_references
from engine.api.values import InputRole


class ReferenceCommands(QObject):
    """Changes the reference pictures of the form."""

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._changes = state.form, state.changes

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of the reference pictures, in order."""
        return tuple(file.path for file in references_in(self._form.inputs))

    @property
    def most(self) -> int:
        """The most reference pictures that the model takes; 0: it takes none."""
        return self._form.suggestions.features.reference_pictures

    @property
    def has_room(self) -> bool:
        """True if the model takes one more."""
        return len(self.paths) < self.most

    def add(self, path: str, width: int, height: int) -> None:
        """Show the model a picture of this size; the first one gives the next picture its shape."""
        form, paths = self._form, (*self.paths, path)
        gives_shape = len(paths) == 1 and form.input_path(InputRole.INIT) is None

        def add() -> None:
            form.inputs = with_references(form.inputs, paths)
            if gives_shape:
                form.width, form.height = form.size_to_start_from(width, height)

        message = self.tr("{name} will be shown to the model.").format(name=Path(path).name[:80])
        self._changes.apply(message, add)

    def remove(self, at: int) -> None:
        """Take the picture at a place out of the list."""
        form, paths = self._form, self.paths
        rest = (*paths[:at], *paths[at + 1 :])

        def remove() -> None:
            form.inputs = with_references(form.inputs, rest)
            if not form.inputs:
                # The size was that of the picture.
                form.width = form.height = None

        message = self.tr("{name} is removed.").format(name=Path(paths[at]).name[:80])
        self._changes.apply(message, remove)
