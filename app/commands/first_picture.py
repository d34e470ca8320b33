"""The command behind a postcard of the empty canvas: a first picture with one click."""

from PySide6.QtCore import QObject

from app.commands.jobs import JobCommands
from app.form.changes import FormChanges


class FirstPicture(QObject):
    """Makes a picture with the starter."""

    def __init__(self, changes: FormChanges, jobs: JobCommands, parent: QObject) -> None:
        super().__init__(parent)
        self._changes, self._jobs = changes, jobs

    def make(self, prompt: str) -> None:
        """Fill the form for the starter with a prompt, which can be undone, and generate."""
        self._changes.use_starter(prompt)
        self._jobs.generate()
