"""Pictures that could not be saved where they were meant to be, saved where there is room."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from app.library.copied_files import put_into


def move_picture(kept: Path, folder: Path) -> Path:
    """Move a picture into a folder, under its name or one like it that is free; its new path.

    Makes the folder. Raises OSError, after which the picture is where it was.
    """

    def write(file: BinaryIO) -> None:
        with kept.open("rb") as read:
            shutil.copyfileobj(read, file)

    # Lists of pictures are ordered by the time of the file.
    moved = put_into(folder, kept.name, write, lambda part: shutil.copystat(kept, part))
    with suppress(OSError):
        kept.unlink()
    return moved


def save_picture(name: str, content: bytes, folder: Path) -> Path:
    """Write the file of a picture into a folder, as `move_picture` does. Raises OSError."""
    return put_into(folder, name, lambda file: file.write(content), lambda _part: None)
