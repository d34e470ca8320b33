"""Pictures that could not be saved where they were meant to be, saved where there is room."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from engine.durable import rename_to_free, sync_file, sync_folder


def move_picture(kept: Path, folder: Path) -> Path:
    """Move a picture into a folder, under its name or one like it that is free; its new path.

    Makes the folder. Raises OSError, after which the picture is where it was.
    """

    def write(file: BinaryIO) -> None:
        with kept.open("rb") as read:
            shutil.copyfileobj(read, file)

    # Lists of pictures are ordered by the time of the file.
    moved = _put(folder, kept.name, write, lambda part: shutil.copystat(kept, part))
    with suppress(OSError):
        kept.unlink()
    return moved


def save_picture(name: str, content: bytes, folder: Path) -> Path:
    """Write the file of a picture into a folder, as `move_picture` does. Raises OSError."""
    return _put(folder, name, lambda file: file.write(content), lambda _part: None)


def _put(
    folder: Path,
    name: str,
    write: Callable[[BinaryIO], object],
    dress: Callable[[Path], object],
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    # Not `open_part`, whose files are for this user alone: pictures are as others are.
    part = folder / f".{token_hex(8)}.part"
    file = part.open("xb")
    try:
        with file:
            write(file)
            file.flush()
            sync_file(file.fileno())
        dress(part)
        final = rename_to_free(part, _names(Path(name)))
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(folder)
    return final


def _names(name: Path) -> Iterator[str]:
    yield name.name
    for number in count(2):
        yield f"{name.stem}-{number}{name.suffix}"
