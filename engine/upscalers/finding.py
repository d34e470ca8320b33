"""Upscalers in the user's folders, by the names of their files or by AUTOMATIC1111's names."""

from collections.abc import Iterable
from pathlib import Path

from engine.api.sentences import sentence
from engine.api.upscaler_names import UPSCALER_SUFFIXES, is_called
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.folders import weights_below
from engine.upscalers.reading import read_upscaler

# The folders of upscalers in ComfyUI's, A1111's and Stability Matrix's names, in lower case.
_FOLDERS = frozenset({"upscale_models", "esrgan", "realesrgan", "swinir", "dat"})


def find_by_name(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the upscaler of this name below `folders`; None without one.

    It is in a folder of upscalers, or is one by its content. A name may leave out its suffix, and
    may be one of AUTOMATIC1111's list.
    """
    below = (path for folder in folders for path in weights_below(folder, UPSCALER_SUFFIXES))
    named = [path for path in below if is_called(path.name, name)]
    ours = (path for path in named if _is_of_upscalers(path))
    return next(ours, None) or next(filter(_is_upscaler, named), None)


def unknown_upscaler(name: str) -> EngineError:
    """Return the error for a name that no upscaler has."""
    return EngineError(
        ErrorCode.CHECKPOINT_NOT_FOUND,
        sentence("There is no upscaler {name}.", name=name),
        sentence("Put its file into the folder of upscalers, or choose another one."),
    )


def _is_of_upscalers(path: Path) -> bool:
    return any(folder.name.lower() in _FOLDERS for folder in path.parents)


def _is_upscaler(path: Path) -> bool:
    try:
        read_upscaler(path)
    except (EngineError, OSError):
        return False
    return True
