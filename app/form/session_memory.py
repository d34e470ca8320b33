"""Saves the form and the window's place as they change, and restores them at the next start."""

import logging
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.form.generation import GenerationState
from app.form.last_session import FILE, LastSession, WindowPlace, encode, read_last_session
from app.library.checkpoint_store import CheckpointStore
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, replace_file

# Changes within this time are written together; a crash loses no more than these.
_SOON_MS = 500
# The most checkpoints outside the models folder that are offered at the next start.
_MOST_OPENED = 50

_log = logging.getLogger(__name__)


class SessionMemory(QObject):
    """Writes the session's file soon after each change, on a thread of its own."""

    # ErrorInfo: the file cannot be written; emitted once, until a write succeeds.
    failed = Signal(object)

    def __init__(
        self,
        folder: Path,
        form: GenerationState,
        checkpoints: CheckpointStore,
        parent: QObject | None = None,
    ) -> None:
        """Restore the last session; `problem` says what is wrong with its file."""
        super().__init__(parent)
        self._path = folder / FILE
        self._form, self._checkpoints = form, checkpoints
        last, self.problem = read_last_session(folder)
        # Where the window is; None where it has not been shown yet.
        self.place = last.place if last is not None else None
        if last is not None:
            self._restore(last)
        form.form_changed.connect(self.changed)
        # One thread, so that the latest state is written last.
        self._background = Background(1, self)
        self._writing = self._failing = self._closed = False
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self._write_soon)

    def changed(self) -> None:
        """Write the session soon, because something in it has changed."""
        # Keys do not restart the timer, so that a minute of steady typing is saved, too.
        if not (self._soon.isActive() or self._closed):
            self._soon.start()

    def keep_place(self, place: WindowPlace) -> None:
        """Keep the window's new place and size."""
        self.place = place
        self.changed()

    def close(self) -> None:
        """Write the latest state unless it is written already. Blocks for the disk."""
        # `Background.close` drops a write that has not begun.
        pending = self._soon.isActive() or self._writing
        self._closed = True
        self._soon.stop()
        self._background.close()
        if pending:
            self._write(self._as_it_is())

    def _write_soon(self) -> None:
        if self._writing:
            self.changed()
            return
        self._writing = True
        last = self._as_it_is()
        self._background.run(lambda: self._write(last), self._on_written)

    def _write(self, last: LastSession) -> ErrorInfo | None:
        try:
            replace_file(self._path, encode(last), durable=True)
        except OSError as error:
            _log.warning("the form cannot be kept: %s", error)
            return _unwritable(error)
        return None

    def _on_written(self, problem: ErrorInfo | None) -> None:
        self._writing = False
        if problem is not None and not self._failing:
            self.failed.emit(problem)
        self._failing = problem is not None

    def _restore(self, last: LastSession) -> None:
        form, checkpoints = self._form, self._checkpoints
        for path in last.opened:
            checkpoints.add(path)
        form.put(last.form)
        if form.checkpoint == Path():
            form.checkpoint = checkpoints.starter
        checkpoints.chosen = form.checkpoint
        checkpoints.add(form.checkpoint)

    def _as_it_is(self) -> LastSession:
        form = self._form.form
        if self._form.checkpoint == self._checkpoints.starter:
            # The starter lies where Safelight is installed, which may change before the next start.
            form = msgspec.structs.replace(form, checkpoint=Path())
        opened = self._checkpoints.opened[-_MOST_OPENED:]
        return LastSession(form=form, opened=opened, place=self.place)


def _unwritable(error: OSError) -> ErrorInfo:
    is_full = error.errno in FULL
    return ErrorInfo(
        ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE,
        "What is in the window cannot be kept for the next start.",
        "Make room on the disk." if is_full else "See that Safelight's own folder can be written.",
        str(error),
    )
