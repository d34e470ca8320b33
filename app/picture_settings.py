"""The settings in a picture's metadata, with what a person must know about them."""

from pathlib import Path

import msgspec

from engine.api.request import GenerateRequest
from engine.api.values import ErrorInfo
from engine.errors import EngineError
from engine.metadata.readers import ImportedRequest, read_request


class PictureSettings(msgspec.Struct, frozen=True):
    """A request to fill the form with; without a checkpoint the chosen one is kept.

    `remarks` are sentences on what could not be taken over.
    """

    request: GenerateRequest
    remarks: tuple[str, ...] = ()


def read_settings(
    path: Path, starter: Path, starter_digest: str | None
) -> PictureSettings | ErrorInfo:
    """Read them from a file of unknown origin. Reads the disk: not for the GUI thread.

    A checkpoint that is not where it was is the starter if its digest says so.
    """
    try:
        imported = read_request(path)
    except EngineError as error:
        return error.info
    wanted = imported.request.checkpoint
    if wanted is None or _exists(wanted):
        return PictureSettings(imported.request, imported.warnings)
    if imported.record is not None and imported.record.checkpoint_digest == starter_digest:
        return _with_checkpoint(imported, str(starter), imported.warnings)
    remark = f"Its checkpoint {Path(wanted).name} is not there any more; the chosen one is kept."
    return _with_checkpoint(imported, None, (*imported.warnings, remark))


def _with_checkpoint(
    imported: ImportedRequest, checkpoint: str | None, remarks: tuple[str, ...]
) -> PictureSettings:
    request = msgspec.structs.replace(imported.request, checkpoint=checkpoint)
    return PictureSettings(request, remarks)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    # A name that no file system takes, or a folder that may not be looked into.
    except (OSError, ValueError):
        return False
