"""Files that are put into a folder of the user's, under a name that is free."""

import filecmp
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from engine.durable import rename_to_free, sync_file, sync_folder


def copy_into(file: Path, folder: Path) -> Path:
    """Copy a file into a folder, under its name or one like it that is free; the copy's path.

    A copy of the same name and content is used as it is. Makes the folder. Raises OSError.
    """
    present = folder / file.name
    if present.is_file() and filecmp.cmp(file, present, shallow=False):
        return present

    def write(copy: BinaryIO) -> None:
        with file.open("rb") as read:
            shutil.copyfileobj(read, copy)

    return put_into(folder, file.name, write, lambda part: shutil.copystat(file, part))


def put_into(
    folder: Path,
    name: str,
    write: Callable[[BinaryIO], object],
    dress: Callable[[Path], object],
) -> Path:
    """Have a file written into a folder under a free name, and dressed before it gets that name.

    Makes the folder. Returns the file's path. Raises OSError, and leaves nothing then.
    """
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
