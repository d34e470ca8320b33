"""Opening a single file of weights: what every reader asks of the file itself."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from engine.api.values import ErrorCode
from engine.checkpoints.faults import not_found, unreadable
from engine.checkpoints.index import FileState, TensorIndex
from engine.errors import EngineError

# What is known to be the digest of a file in a state, which saves reading places all over it.
Recall = Callable[[FileState], str | None]
# Reads an open file, of which the system says this.
Read = Callable[[BinaryIO, os.stat_result], TensorIndex]


def nothing_known(_: FileState) -> str | None:
    """The `Recall` of those that remember nothing."""
    return None


def read_steadily(path: Path, read: Read) -> TensorIndex:
    """What `read` makes of a file that stays as it is meanwhile.

    Raises EngineError where it is no file, cannot be read or changes, and what `read` raises.
    """
    if "\0" in str(path):  # the one character no file name has, and `stat` answers with ValueError
        raise not_found(path)
    try:
        before = path.stat()
        # Before it is opened: to open a pipe is to wait for somebody to write to it.
        if not stat.S_ISREG(before.st_mode):
            raise EngineError(
                ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
                f"{path.name} is not a file.",
                "Choose a file.",
            )
        with path.open("rb") as file:
            index = read(file, before)
        after = path.stat()
    except FileNotFoundError:
        raise not_found(path) from None
    except OSError as error:
        raise unreadable(path, error) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNREADABLE,
            f"{path.name} changed while it was read.",
            "If it is still downloading, wait until that has finished.",
        )
    return index
