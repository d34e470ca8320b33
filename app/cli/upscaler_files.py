"""The upscalers in the user's folders, by typed paths or the names of their files."""

from collections.abc import Iterable
from pathlib import Path

from app.paths import typed_path
from engine.api.upscaler_names import UPSCALER_SUFFIXES
from engine.file_paths import exists
from engine.folders import has_suffix
from engine.upscalers.finding import find_by_name, unknown_upscaler


def find_upscaler(wanted: str, folders: Iterable[Path]) -> Path:
    """Return the upscaler of a typed path, else of a name in a folder of upscalers below `folders`.

    A name may leave out its suffix. Where there is neither, a path is returned as it is typed, and
    a name raises EngineError(CHECKPOINT_NOT_FOUND).
    """
    typed = typed_path(wanted)
    found = typed if exists(typed) else find_by_name(wanted, folders)
    if found is None and wanted == typed.name and not has_suffix(wanted, UPSCALER_SUFFIXES):
        raise unknown_upscaler(wanted)
    return found or typed
