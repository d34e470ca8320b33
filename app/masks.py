"""Masks that were painted: kept as long as pictures may name them."""

from hashlib import sha256
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import replace_file

translate = QCoreApplication.translate


def keep_mask(folder: Path, png: bytes) -> Path | ErrorInfo:
    """Write a mask under the name of its content; the same one is written once."""
    path = folder / f"{sha256(png).hexdigest()[:16]}.png"
    try:
        if not path.exists():
            replace_file(path, png, durable=True)
    except OSError as error:
        return ErrorInfo(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            translate("masks", "The mask cannot be kept in {folder}.").format(folder=folder),
            translate("masks", "Make room on the disk, or name another folder in SAFELIGHT_STATE."),
            str(error),
        )
    return path
