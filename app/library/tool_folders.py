"""Finds the folders of models of other programs on this computer: where they usually lie.

Nothing is searched through: each place is asked for by its name, and only files of weights below
the folders that exist are counted.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import msgspec

from engine.api.model_files import MODEL_SUFFIXES
from engine.file_paths import is_folder
from engine.folders import folders_of_models, weights_below
from engine.regular_file import read_bounded

# Counting ends here: a program with more files is worth naming anyway.
MOST_COUNTED = 5000
_MOST_BYTES = 1 << 20
# A1111 and its relatives.
_WEBUI = "Stable Diffusion WebUI"
_NAMES = (
    ("stable-diffusion-webui", _WEBUI),
    ("stable-diffusion-webui-forge", f"{_WEBUI} Forge"),
    ("stable-diffusion-webui-reForge", f"{_WEBUI} reForge"),
    ("sd-webui", _WEBUI),
    ("webui", _WEBUI),
    ("ComfyUI", "ComfyUI"),
    ("comfyui", "ComfyUI"),
    ("ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ("easy-diffusion", "Easy Diffusion"),
    ("EasyDiffusion", "Easy Diffusion"),
    ("invokeai", "InvokeAI"),
    ("InvokeAI", "InvokeAI"),
    ("SwarmUI", "SwarmUI"),
    ("StabilityMatrix/Data", "Stability Matrix"),
)
_PLACES = ("", "Documents", "AI", "ai", "apps", "Apps", "src", "git", "Downloads")
_PATHS_FILE = "extra_model_paths.yaml"
# A line `name: value` or `name: |` of the YAML that ComfyUI documents.
_LINE = re.compile(r"(?P<indent> *)(?P<name>[\w.-]+):(?: +(?P<value>\S.*?))? *")


class ToolFolder(msgspec.Struct, frozen=True):
    """A folder of another program with so many files of weights."""

    tool: str
    folder: Path
    files: int


def find_tools(
    home: Path, known: Iterable[Path], environment: Mapping[str, str] = os.environ
) -> tuple[ToolFolder, ...]:
    """Return the folders of other programs with files of weights, without those that are known.

    Touches the disk: not for the GUI thread.
    """
    looked = {_resolved(folder) for folder in known}
    found: list[ToolFolder] = []
    for tool, folder in _candidates(home, environment):
        place = _resolved(folder)
        if place in looked or not is_folder(folder):
            continue
        looked.add(place)
        files = count_files(folder)
        if files:
            found.append(ToolFolder(tool, folder, files))
    return tuple(found)


def count_files(folder: Path) -> int:
    """Return the number of files of weights in a named folder, at most `MOST_COUNTED`."""
    folders = folders_of_models(None, [folder])
    below = chain.from_iterable(weights_below(folder, MODEL_SUFFIXES) for folder in folders)
    return sum(1 for _ in islice(below, MOST_COUNTED))


def folders_in_paths_file(content: str, beside: Path) -> tuple[Path, ...]:
    """Return the folders that ComfyUI's `extra_model_paths.yaml` names, which lies in `beside`.

    Of each section its `base_path`, or where it has none the folders that are whole paths.
    """
    bases: list[Path] = []
    section_has_base = False
    for line in content.splitlines():
        text = line.split(" #")[0].rstrip()
        found = _LINE.fullmatch(text)
        if found is None:
            path = Path(text.strip())
            if path.is_absolute() and not section_has_base:
                bases.append(path)
            continue
        value = (found["value"] or "").strip("\"'")
        if not found["indent"]:
            section_has_base = False
        elif found["name"] == "base_path" and value:
            section_has_base = True
            bases.append(beside / Path(value).expanduser())
        elif Path(value).is_absolute() and not section_has_base:
            bases.append(Path(value))
    return tuple(dict.fromkeys(bases))


def _candidates(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    root = environment.get("INVOKEAI_ROOT")
    if root:
        yield "InvokeAI", Path(root)
    parents = [home / place for place in _PLACES]
    if sys.platform == "win32":
        parents += [Path(f"{letter}:/") for letter in "CDEFG"]
        local = environment.get("LOCALAPPDATA")
        if local:
            yield "ComfyUI", Path(local) / "Programs" / "ComfyUI"
        roaming = environment.get("APPDATA")
        if roaming:
            yield "Stability Matrix", Path(roaming) / "StabilityMatrix"
    for parent in parents:
        for name, tool in _NAMES:
            folder = parent / name
            yield tool, folder
            for other in _named_by(folder):
                yield tool, other


def _named_by(folder: Path) -> tuple[Path, ...]:
    """Return the folders that a ComfyUI in this folder looks into beside its own."""
    try:
        content = read_bounded(folder / _PATHS_FILE, _MOST_BYTES)
    except (OSError, ValueError):
        return ()
    return folders_in_paths_file(content.decode(errors="replace"), folder)


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder
