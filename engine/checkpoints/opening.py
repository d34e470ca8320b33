"""Opens a single file of weights, with the checks that every reader needs."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import changed, not_found, unreadable
from engine.checkpoints.index import FileState
from engine.errors import EngineError

# Returns the known digest of a file in a state, or None; a known digest saves reading the file.
Recall = Callable[[FileState], str | None]
T = TypeVar("T")


def nothing_known(_: FileState) -> str | None:
    """The `Recall` that knows no file."""
    return None


def read_steadily(path: Path, read: Callable[[BinaryIO, os.stat_result], T]) -> T:
    """Return the result of `read` for a file that must not change while it is read.

    `read` gets the open file and its `stat` result. Raises EngineError if it is not a file, cannot
    be read or changes, and the errors of `read`.
    """
    if "\0" in str(path):  # the one character no file name has, and `stat` answers with ValueError
        raise not_found(path)
    try:
        before = path.stat()
        # Checked before it is opened: opening a pipe waits for a writer.
        if not stat.S_ISREG(before.st_mode):
            raise EngineError(
                ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
                sentence("{path} is not a file.", path=path.name),
                sentence("Choose a file."),
            )
        with path.open("rb") as file:
            result = read(file, before)
        after = path.stat()
    except FileNotFoundError:
        raise not_found(path) from None
    except OSError as error:
        raise unreadable(path, error) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise changed(path)
    return result
