"""The upscalers in the user's folders, by the names of their files."""

from collections.abc import Iterable
from pathlib import Path

from app.paths import typed_path
from engine.file_paths import exists
from engine.folders import SAFETENSORS_SUFFIXES, weights_below

_SUFFIXES = SAFETENSORS_SUFFIXES | {".pth", ".pt"}
# The folders of upscalers in ComfyUI's, A1111's and Stability Matrix's names, in lower case.
_FOLDERS = frozenset({"upscale_models", "esrgan", "realesrgan", "swinir", "dat"})


def find_upscaler(wanted: str, folders: Iterable[Path]) -> Path:
    """Return the upscaler of a typed path, else of a name in a folder of upscalers below `folders`.

    A name may leave out its suffix. Where there is neither, the typed path is returned.
    """
    typed = typed_path(wanted)
    if exists(typed):
        return typed
    below = (path for folder in folders for path in weights_below(folder, _SUFFIXES))
    named = (path for path in below if wanted in (path.name, path.stem))
    return next((path for path in named if _is_of_upscalers(path)), typed)


def _is_of_upscalers(path: Path) -> bool:
    return any(folder.name.lower() in _FOLDERS for folder in path.parents)
