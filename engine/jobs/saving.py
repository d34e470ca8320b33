"""Saves finished pictures; if the target fails, in the temporary folder, so that none is lost.

Where that takes none either, the error carries the picture's file (`UnwrittenPicture`).
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from engine.api.picture_names import PictureFacts
from engine.api.record import GenerationRecord
from engine.api.remedies import ChooseFolder, MoveKept
from engine.api.saving import Saving
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.durable import require_new_files
from engine.errors import EngineError
from engine.file_paths import exists, is_folder
from engine.metadata.record import record_chunks
from engine.output import Destination, write_picture
from engine.pipeline.generate import Picture

_USUAL = Saving()
_WRITE_ERRORS = frozenset({ErrorCode.DISK_FULL, ErrorCode.OUTPUT_NOT_WRITABLE})


class SavedImage(msgspec.Struct, frozen=True):
    """A picture that is durably on disk."""

    path: Path
    seed: int
    width: int
    height: int
    record: GenerationRecord


class PictureSaver:
    """Saves the pictures of one job to a file or folder."""

    def __init__(self, target: Destination, saving: Saving = _USUAL) -> None:
        self._target, self._saving = target, saving

    def require_writable(self) -> None:
        """Raise EngineError(OUTPUT_NOT_WRITABLE) unless a file can be created in the folder.

        Called before the work, so that it is not lost.
        """
        folder = self._target.folder
        if exists(folder) and not is_folder(folder):
            raise EngineError(
                ErrorCode.OUTPUT_NOT_WRITABLE,
                sentence("Nothing can be written to {folder}: it is no folder.", folder=folder),
                remedies=(ChooseFolder(),),
            )
        try:
            require_new_files(folder)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise EngineError(
                ErrorCode.OUTPUT_NOT_WRITABLE,
                sentence(
                    "Nothing can be written to {folder}: {reason}.", folder=folder, reason=reason
                ),
                remedies=(ChooseFolder(),),
            ) from error

    def save(self, picture: Picture, record: GenerationRecord) -> SavedImage:
        """Write the picture with its record.

        If the target fails, the picture goes to the temporary folder, and the EngineError raised
        (DISK_FULL or OUTPUT_NOT_WRITABLE) names its path.
        """
        try:
            path = self._write(picture, record, self._target)
        except EngineError as error:
            raise rescued(error, lambda refuge: self._write(picture, record, refuge)) from error
        height, width = picture.pixels.shape[:2]
        return SavedImage(path, record.request.seed, width, height, record)

    def _write(self, picture: Picture, record: GenerationRecord, target: Destination) -> Path:
        return write_picture(
            picture.pixels,
            target,
            _facts(record),
            chunks=record_chunks(record),
            saving=self._saving,
        )


def rescued(error: EngineError, write: Callable[[Destination], Path]) -> EngineError:
    """Return the error of a target that failed; `write` has kept the picture where it says.

    That is a temporary folder; the error is returned as it is where that takes nothing either, and
    if it is of another kind.
    """
    if error.code not in _WRITE_ERRORS:
        return error
    # There is no temporary folder at all where none takes a byte.
    with suppress(EngineError, FileNotFoundError):
        path = write(Destination(Path(tempfile.gettempdir()) / "safelight-rescued"))
        remedies = MoveKept(path=str(path)), *error.remedies
        return EngineError(error.code, error.text, detail=error.detail, remedies=remedies)
    return error


def _facts(record: GenerationRecord) -> PictureFacts:
    request = record.request
    return PictureFacts(
        seed=request.seed,
        prompt=request.prompt,
        checkpoint=request.checkpoint,
        sampler=request.sampler.value,
        steps=request.steps,
        guidance=request.guidance,
        width=request.width,
        height=request.height,
        made=datetime.now().astimezone(),
    )
