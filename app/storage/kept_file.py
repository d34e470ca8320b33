"""A small file of the application's own that is written at every change."""

import logging
from pathlib import Path
from threading import Lock

from engine.durable import replace_file

_log = logging.getLogger(__name__)


class KeptFile:
    """A file that is replaced as a whole; what the disk does not take is written later.

    Each new content and each `flush` try again. A failure is only logged: the window's own state is
    on the same disk, and tells of it. May be used from any thread.
    """

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        """`durable` waits until the content is on the disk itself."""
        self._path, self._durable = path, durable
        self._lock = Lock()
        self._unwritten: bytes | None = None

    def put(self, content: bytes) -> None:
        """Take the content that the next `flush` writes."""
        with self._lock:
            self._unwritten = content

    def write(self, content: bytes) -> None:
        """Write a content. Touches the disk."""
        self.put(content)
        self.flush()

    def flush(self) -> None:
        """Write what is not written yet. Touches the disk."""
        with self._lock:
            if self._unwritten is None:
                return
            try:
                replace_file(self._path, self._unwritten, durable=self._durable)
            except OSError as error:
                _log.warning("%s cannot be written: %s", self._path.name, error)
            else:
                self._unwritten = None
