"""Files of weights for preprocessors, found by the names that they are usually given."""

from collections.abc import Iterable
from pathlib import Path

from engine.api.preprocessors import PREPROCESSORS, PreprocessorName
from engine.folders import walk

# Beside a tool's folder of models: sd-webui-controlnet's downloads, and controlnet_aux's.
_OF_TOOLS = (
    "extensions/sd-webui-controlnet/annotator/downloads",
    "custom_nodes/comfyui_controlnet_aux/ckpts",
)


def find_weights(name: PreprocessorName, folders: Iterable[Path]) -> Path | None:
    """Return the first file below the folders with a usual name of a preprocessor's weights.

    None without such a file, and for preprocessors that have no weights or may run any.
    """
    if name is PreprocessorName.ONNX:
        return None
    return find_file(PREPROCESSORS[name].files, folders)


def find_file(names: Iterable[str], folders: Iterable[Path]) -> Path | None:
    """Return the first file below the folders that has one of the names; None without one.

    Earlier names are preferred, and upper and lower case are alike. Folders named `models` are
    those of a tool, whose downloads are looked into, too.
    """
    wanted = [usual.lower() for usual in names]
    if not wanted:
        return None
    found: dict[str, Path] = {}
    for folder in walk(_with_downloads(folders)):
        for entry in folder.entries:
            if entry.name.lower() in wanted:
                found.setdefault(entry.name.lower(), folder.path / entry.name)
    return next((found[usual] for usual in wanted if usual in found), None)


def _with_downloads(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        yield folder
        yield from (folder.parent / below for below in _OF_TOOLS if folder.name == "models")
