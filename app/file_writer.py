"""Writes a small file of the application's own soon after its content has changed."""

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.storage.full_disk import make_room
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, replace_file

# Changes within this time are written together; a crash loses no more than these.
_SOON_MS = 500
# A disk that did not take them is asked again after this time.
_AGAIN_MS = 5000

_log = logging.getLogger(__name__)


class FileWriter(QObject):
    """Writes a file durably on a thread of its own, half a second after a change of its content."""

    # ErrorInfo: the file cannot be written; emitted once, until a write succeeds.
    failed = Signal(object)

    def __init__(
        self,
        path: Path,
        content: Callable[[], Callable[[], bytes]],
        unwritable: Sentence,
        parent: QObject | None = None,
    ) -> None:
        """Write nothing yet. `content` is called on this thread, and what it returns on the other.

        `unwritable` is the sentence that tells a person that the file cannot be written.
        """
        super().__init__(parent)
        self._path, self._content, self._unwritable = path, content, unwritable
        # One thread, so that the latest state is written last.
        self._background = Background(1, self)
        self._background.failed.connect(self.failed)
        self._writing = self._failing = self._closed = False
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._write_soon)

    def changed(self) -> None:
        """Write the file soon, because its content has changed."""
        # Keys do not restart the timer, so that a minute of steady typing is saved, too.
        if not (self._soon.isActive() or self._closed):
            self._soon.start(_SOON_MS)

    def close(self) -> None:
        """Write the latest content unless it is written already. Blocks for the disk."""
        # `Background.close` drops a write that has not begun.
        pending = self._soon.isActive() or self._writing or self._failing
        self._closed = True
        self._soon.stop()
        self._background.close()
        if pending:
            self._write(self._content())

    def _write_soon(self) -> None:
        if self._writing:
            self.changed()
            return
        self._writing = True
        encode = self._content()
        self._background.run(
            lambda: self._write(encode), self._on_written, otherwise=self._on_fault
        )

    def _write(self, encode: Callable[[], bytes]) -> ErrorInfo | None:
        content = encode()
        try:
            replace_file(self._path, content, durable=True)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path.name, error)
            return self._problem(error, len(content))
        return None

    def _on_fault(self) -> None:
        # What follows is written all the same.
        self._writing = False

    def _on_written(self, problem: ErrorInfo | None) -> None:
        self._writing = False
        if problem is not None and not self._failing:
            self.failed.emit(problem)
        self._failing = problem is not None
        if self._failing and not (self._soon.isActive() or self._closed):
            self._soon.start(_AGAIN_MS)

    def _problem(self, error: OSError, size: int) -> ErrorInfo:
        is_full = error.errno in FULL
        hint = sentence("See that {folder} can be written.", folder=self._path.parent)
        if is_full:
            hint = make_room(self._path.parent, size)
        return ErrorInfo(
            ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE,
            self._unwritable,
            hint,
            str(error),
        )
