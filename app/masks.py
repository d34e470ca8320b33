"""Masks that were painted: kept as long as pictures may name them."""

from hashlib import sha256
from pathlib import Path

from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import replace_file


def keep_mask(folder: Path, png: bytes) -> Path | ErrorInfo:
    """Write a mask under the name of its content; the same one is written once."""
    path = folder / f"{sha256(png).hexdigest()[:16]}.png"
    try:
        if not path.exists():
            replace_file(path, png, durable=True)
    except OSError as error:
        return ErrorInfo(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            f"The mask cannot be kept in {folder}.",
            "Make room on the disk, or choose another folder with SAFELIGHT_STATE.",
            str(error),
        )
    return path
