"""Painted masks and pasted pictures, kept in files because pictures may name them."""

from hashlib import sha256
from pathlib import Path
from threading import Lock

from PySide6.QtCore import QCoreApplication

from app.storage.aside import put_aside
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import replace_file
from engine.regular_file import read_bounded

translate = QCoreApplication.translate
# The folders of masks and of pasted pictures in the state folder, and the names in both.
MASKS, PASTED = FOLDERS = ("masks", "pasted")
_PASTED_PREFIX = "pasted-"
KEPT_NAME = rf"(?:{_PASTED_PREFIX})?[0-9a-f]{{16}}\.png"
# While it is held no file is made or removed.
_lock = Lock()


def keep_mask(folder: Path, png: bytes) -> Path | ErrorInfo:
    """Write a mask to a file named after its hash, unless it exists; return the path or an error.

    A file of that name with other content is damaged and is put aside.
    """
    return _keep(folder, "", png, translate("masks", "The mask cannot be kept in {folder}."))


def keep_pasted(folder: Path, png: bytes) -> Path | ErrorInfo:
    """Write a picture that was pasted without a file, as `keep_mask` does."""
    failure = translate("masks", "The picture cannot be kept in {folder}.")
    return _keep(folder, _PASTED_PREFIX, png, failure)


def remove_kept(path: Path, before: float) -> bool:
    """Remove a file, unless it was made again since `before`, in s; return True if it is gone."""
    with _lock:
        try:
            if path.stat().st_mtime >= before:
                return False
            path.unlink()
        except OSError:
            return False
    return True


def _keep(folder: Path, prefix: str, png: bytes, failure: str) -> Path | ErrorInfo:
    path = folder / f"{prefix}{sha256(png).hexdigest()[:16]}.png"
    try:
        with _lock:
            if _holds(path, png):
                # It is as good as new, and is not removed soon.
                path.touch()
            else:
                put_aside(path, "damaged")
                replace_file(path, png, durable=True)
    except OSError as error:
        return ErrorInfo(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            failure.format(folder=folder),
            translate("masks", "Make room on the disk, or name another folder in SAFELIGHT_STATE."),
            str(error),
        )
    return path


def _holds(path: Path, png: bytes) -> bool:
    try:
        return read_bounded(path, len(png)) == png
    except OSError:
        return False
