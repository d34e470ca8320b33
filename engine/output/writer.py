"""Writes pictures so that a file under a final name is complete and none is overwritten.

The order guarantees this: a temporary file in the same folder, all bytes, fsync, the final name
only if it is free, fsync of the folder, and only then does the call return.
"""

import os
import re
import secrets
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api import ErrorCode
from engine.api.picture_names import PictureFacts, counter_of, has_counter, stem_of
from engine.api.remedies import ChooseFolder
from engine.api.saving import PictureFile, Saving
from engine.api.sentences import sentence
from engine.durable import FULL, rename_to_free, room_needed, sync_file, sync_folder
from engine.errors import EngineError
from engine.metadata.texts import TextChunk
from engine.output.encoding import encode_picture, format_for
from engine.output.names import Destination, sibling_names

# A counter that is being written, or "x" and random digits for a name given by the user.
_TEMPORARY = re.compile(r"\.safelight-(?:(\d{5,12})|x[0-9a-f]{16})\.tmp", re.ASCII)
_STALE_SECONDS = 24 * 3600
_USUAL = Saving()


class UnwrittenPicture(EngineError):  # noqa: N818 (what is left of the picture)
    """The failure to write a picture, with the `file` that it would have been."""

    def __init__(self, error: EngineError, file: PictureFile) -> None:
        super().__init__(
            error.code, error.text, error.advice, error.detail, remedies=error.remedies
        )
        self.file = file


def write_picture(
    pixels: NDArray[np.uint8],
    target: Destination,
    facts: PictureFacts,
    *,
    chunks: Sequence[TextChunk] = (),
    saving: Saving = _USUAL,
) -> Path:
    """Encode pixels, uint8 [height, width, 3 or 4], with text chunks; return the final path.

    The format is that of the target's name, else that of `saving`; a picture that is too long for
    it is a PNG. The folder is made if it does not exist; an existing file is never overwritten.
    Raises UnwrittenPicture (DISK_FULL, OUTPUT_NOT_WRITABLE); then no file is left behind.
    """
    wanted = target.format(saving.format)
    form = format_for(max(pixels.shape[:2]), wanted)
    if target.name is not None and form is not wanted:
        target = msgspec.structs.replace(target, name=Path(target.name).stem + form.suffix)
    content = encode_picture(pixels, chunks if saving.metadata else (), form, saving.quality)
    # The counter of a folder that cannot be listed is not known.
    unwritten = PictureFile(target.name or stem_of(saving.name, facts, 1) + form.suffix, content)
    with _named_errors(target.folder, unwritten):
        _make_folder(target.folder)
        _sweep(target.folder)
        file, counter = _open_temporary(target, saving.name)
        name = target.name or stem_of(saving.name, facts, counter) + form.suffix
        names = sibling_names(name, numbered=target.numbered)
        temporary = Path(file.name)
        try:
            with file:
                file.write(content)
                file.flush()
                sync_file(file.fileno())
            final = rename_to_free(temporary, names)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.folder)
    return final


@contextmanager
def _named_errors(folder: Path, unwritten: PictureFile) -> Generator[None]:
    """Turn the system's errors into ours, naming the folder and the megabytes needed."""
    try:
        yield
    # A path with a null or another character that cannot be encoded raises ValueError.
    except (OSError, ValueError) as error:
        raise UnwrittenPicture(_named(error, folder, len(unwritten.content)), unwritten) from error


def _named(error: OSError | ValueError, folder: Path, size: int) -> EngineError:
    if isinstance(error, OSError) and error.errno in FULL:
        return EngineError(
            ErrorCode.DISK_FULL,
            sentence(
                "There is no room for the picture in {folder}: {size:.1f} MB are needed.",
                folder=folder,
                size=room_needed(size),
            ),
            sentence("Free some space."),
            str(error),
            remedies=(ChooseFolder(),),
        )
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return EngineError(
        ErrorCode.OUTPUT_NOT_WRITABLE,
        sentence(
            "The picture cannot be written to {folder}: {reason}.", folder=folder, reason=reason
        ),
        detail=str(error),
        remedies=(ChooseFolder(),),
    )


def _make_folder(folder: Path) -> None:
    """Make the folder and its parents, and make them survive a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


def _temporary(folder: Path, token: str) -> Path:
    return folder / f".safelight-{token}.tmp"


def _open_temporary(target: Destination, pattern: str) -> tuple[BinaryIO, int]:
    """Open a temporary file; return it with the counter of the picture's name, 0 without one."""
    if target.name is None and has_counter(pattern):
        return _reserve_counter(target.folder, pattern)
    return _temporary(target.folder, "x" + secrets.token_hex(8)).open("xb"), 0


def _sweep(folder: Path) -> None:
    """Remove temporary files of writers that were killed more than a day ago, or in the future."""
    now = time.time()
    with os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                # Another process may sweep at the same time.
                with suppress(OSError):
                    modified = entry.stat(follow_symlinks=False).st_mtime
                    if abs(now - modified) > _STALE_SECONDS:
                        Path(entry.path).unlink()


def _reserve_counter(folder: Path, pattern: str) -> tuple[BinaryIO, int]:
    """Open a temporary file whose name holds a counter that no other picture has or will get.

    A writer keeps the temporary file of its counter until the picture is published. So once the
    file is open, a picture with that counter is either in the folder already, or will only be ours.
    """
    while True:
        counter = _highest_counter(folder, pattern, temporaries=True) + 1
        path = _temporary(folder, f"{counter:05d}")
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        if _highest_counter(folder, pattern, temporaries=False) < counter:
            return file, counter
        file.close()
        path.unlink()


def _highest_counter(folder: Path, pattern: str, *, temporaries: bool) -> int:
    highest = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match is None:
                highest = max(highest, counter_of(pattern, entry.name))
            elif temporaries and match[1]:
                highest = max(highest, int(match[1]))
    return highest
