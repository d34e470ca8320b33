"""Folders among the system's temporary files that are deleted though their process was killed."""

import contextlib
import tempfile
from pathlib import Path

from engine.cache_folder import delete
from engine.file_lock import FileLock

_PREFIX, _LOCK = "safelight-", ".lock"


class ScratchFolder:
    """A new temporary folder at `path`, deleted by `release`.

    A lock beside it ends with the process: whoever makes the next folder deletes those whose
    processes died.
    """

    def __init__(self) -> None:
        """Make the folder. Raises OSError."""
        _delete_left()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock_path = self.path.with_name(self.path.name + _LOCK)
        try:
            self._lock = FileLock(self._lock_path, create=True)
        except BaseException:
            delete(self.path)
            raise

    def release(self) -> None:
        """Delete the folder; calling it again is harmless."""
        delete(self.path)
        self._lock.release()
        delete(self._lock_path)


def _delete_left() -> None:
    """Delete the folders of processes that died."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_LOCK}"):
        with contextlib.suppress(OSError):  # held, or another user's
            lock = FileLock(path)
            delete(path.with_suffix(""))
            lock.release()
            delete(path)
