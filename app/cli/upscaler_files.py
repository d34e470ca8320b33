"""The upscalers in the user's folders, by typed paths or the names of their files."""

from collections.abc import Iterable
from pathlib import Path

from app.paths import typed_path
from engine.file_paths import exists
from engine.upscalers.finding import find_by_name


def find_upscaler(wanted: str, folders: Iterable[Path]) -> Path:
    """Return the upscaler of a typed path, else of a name in a folder of upscalers below `folders`.

    A name may leave out its suffix. Where there is neither, the typed path is returned.
    """
    typed = typed_path(wanted)
    return typed if exists(typed) else find_by_name(wanted, folders) or typed
