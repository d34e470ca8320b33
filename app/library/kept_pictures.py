"""Pictures that could not be saved where they were meant to be, moved to where there is room."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from engine.durable import open_part, rename_to_free, sync_file, sync_folder


def move_picture(kept: Path, folder: Path) -> Path:
    """Move a picture into a folder, under its name or one like it that is free; its new path.

    Makes the folder. Raises OSError, after which the picture is where it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, part = open_part(folder)
    try:
        with os.fdopen(descriptor, "wb") as written, kept.open("rb") as read:
            shutil.copyfileobj(read, written)
            written.flush()
            sync_file(written.fileno())
        # Lists of pictures are ordered by the time of the file.
        shutil.copystat(kept, part)
        moved = rename_to_free(part, _names(kept))
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(folder)
    with suppress(OSError):
        kept.unlink()
    return moved


def _names(kept: Path) -> Iterator[str]:
    yield kept.name
    for number in count(2):
        yield f"{kept.stem}-{number}{kept.suffix}"
