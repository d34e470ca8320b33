"""Pictures that are typed as files, as folders of pictures or as patterns."""

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.cli.terminal import Usage
from app.paths import typed_path
from engine.api.saving import PICTURE_SUFFIXES
from engine.file_paths import exists, is_folder


def typed_pictures(typed: Iterable[str]) -> tuple[Path, ...]:
    """Return the pictures of typed texts in their order, each once; those of a folder by name.

    A folder stands for the pictures right in it; a pattern with `*`, `?` or `[` that is no file's
    name for those that it matches, as not every shell writes their names. A name without a file is
    returned as it is. Raises Usage for a folder without pictures, or a pattern that matches none;
    raises as `typed_path`.
    """
    return tuple(dict.fromkeys(path for text in typed for path in _pictures(text)))


def _pictures(text: str) -> Iterator[Path]:
    path = typed_path(text)
    if is_folder(path):
        found = sorted(file for file in _files_of(path) if _is_picture(file))
        if not found:
            raise Usage(f"the folder {text} has no PNG, JPEG or WebP file")
        return iter(found)
    if glob.has_magic(text) and not exists(path):
        matched = map(Path, glob.iglob(str(path), recursive=True))  # noqa: PTH207 (whole paths)
        found = sorted(file for file in matched if _is_picture(file) and not is_folder(file))
        if not found:
            raise Usage(f"{text} matches no PNG, JPEG or WebP file")
        return iter(found)
    return iter((path,))


def _files_of(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            yield from (Path(entry.path) for entry in entries if entry.is_file())
    except OSError as error:
        raise Usage(f"the folder {folder} cannot be read: {error.strerror}") from error


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURE_SUFFIXES
