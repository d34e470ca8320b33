"""Saves the form and the window's place as they change, and restores them at the next start."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.file_writer import FileWriter
from app.form.generation import GenerationState
from app.form.last_session import (
    FILE,
    LastSession,
    WindowLayout,
    WindowPlace,
    encode,
    read_last_session,
)
from app.library.checkpoint_store import CheckpointStore
from engine.api.sentences import sentence

# The most checkpoints outside the models folder that are offered at the next start.
_MOST_OPENED = 50


class SessionMemory(QObject):
    """Writes the session's file soon after each change, on a thread of its own."""

    def __init__(
        self,
        folder: Path,
        form: GenerationState,
        checkpoints: CheckpointStore,
        parent: QObject | None = None,
    ) -> None:
        """Restore the last session; `problem` says what is wrong with its file."""
        super().__init__(parent)
        self._form, self._checkpoints = form, checkpoints
        last, self.problem = read_last_session(folder)
        # Where the window is; None where it has not been shown yet.
        self.place = last.place if last is not None else None
        self.layout = last.layout if last is not None else WindowLayout()
        if last is not None:
            self._restore(last)
        unwritable = sentence("What is in the window cannot be kept for the next start.")
        self._writer = FileWriter(folder / FILE, self._content, unwritable, self)
        self.failed = self._writer.failed
        form.changed.connect(self._writer.changed)

    def keep_place(self, place: WindowPlace) -> None:
        """Keep the window's new place and size."""
        self.place = place
        self._writer.changed()

    def keep_layout(self, **changes: str | int | tuple[str, ...]) -> None:
        """Keep changes of the arrangement of the window's parts: fields of `WindowLayout`."""
        layout = msgspec.structs.replace(self.layout, **changes)
        if layout != self.layout:
            self.layout = layout
            self._writer.changed()

    def close(self) -> None:
        """Write the latest state unless it is written already. Blocks for the disk."""
        self._writer.close()

    def _restore(self, last: LastSession) -> None:
        form, checkpoints = self._form, self._checkpoints
        for path in last.opened:
            checkpoints.add(path)
        form.put(last.form)
        if form.checkpoint == Path():
            form.checkpoint = checkpoints.starter
        checkpoints.chosen = form.checkpoint
        checkpoints.add(form.checkpoint)

    def _content(self) -> Callable[[], bytes]:
        form = self._form.form
        if self._form.checkpoint == self._checkpoints.starter:
            # The starter lies where Safelight is installed, which may change before the next start.
            form = msgspec.structs.replace(form, checkpoint=Path())
        opened = self._checkpoints.opened[-_MOST_OPENED:]
        last = LastSession(form=form, opened=opened, place=self.place, layout=self.layout)
        return partial(encode, last)
