"""Finds the folders of models of other programs on this computer: where they usually lie.

Nothing is searched through: each place is asked for by its name, and only files of weights below
the folders that exist are counted.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from os.path import expanduser, expandvars
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
    ("stable-diffusion-webui-amdgpu", _WEBUI),
    ("stable-diffusion-webui-amdgpu-forge", f"{_WEBUI} Forge"),
    # As their archives for Windows unpack.
    ("sd.webui/webui", _WEBUI),
    ("webui_forge_cu121_torch231/webui", f"{_WEBUI} Forge"),
    ("sd-webui", _WEBUI),
    ("webui", _WEBUI),
    ("ComfyUI", "ComfyUI"),
    ("comfyui", "ComfyUI"),
    ("ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ("ComfyUI_windows_portable_nvidia/ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ("easy-diffusion", "Easy Diffusion"),
    ("EasyDiffusion", "Easy Diffusion"),
    ("invokeai", "InvokeAI"),
    ("InvokeAI", "InvokeAI"),
    ("SwarmUI/Models", "SwarmUI"),
    ("StabilityMatrix/Data/Models", "Stability Matrix"),
)
_PLACES = ("", "Documents", "AI", "ai", "apps", "Apps", "src", "git", "Downloads")
_PATHS_FILE = "extra_model_paths.yaml"
# That of ComfyUI's desktop program, in the system's folder for programs' data.
_DESKTOP_FILE = "ComfyUI/extra_models_config.yaml"
# The names of these files that are no models'.
_NO_MODELS = frozenset({"is_default", "custom_nodes"})
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

    Of each section its `base_path`, and the folders that are whole paths elsewhere.
    """
    sections = [_Section()]
    for line in content.splitlines():
        text = line.split(" #")[0].rstrip()
        found = _LINE.fullmatch(text)
        section = sections[-1]
        if found is None:
            if section.name not in _NO_MODELS:
                section.whole.append(Path(text.strip()))
            continue
        section.name, value = found["name"], (found["value"] or "").strip("\"'")
        if not found["indent"]:
            sections.append(_Section())
        elif section.name == "base_path" and value:
            value = expanduser(expandvars(value))  # noqa: PTH111 (pathlib's raises for no user)
            section.base = (beside / value,)
        elif section.name not in _NO_MODELS:
            section.whole.append(Path(value))
    return tuple(dict.fromkeys(chain.from_iterable(section.folders for section in sections)))


@dataclass(slots=True)
class _Section:
    """A section of such a file, of which some lines are read; `name` is the latest one's."""

    name: str = ""
    base: tuple[Path, ...] = ()
    whole: list[Path] = field(default_factory=list[Path])

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that it names, none of them inside of its base."""
        elsewhere = (
            path
            for path in self.whole
            if path.is_absolute() and not any(map(path.is_relative_to, self.base))
        )
        return (*self.base, *elsewhere)


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
            yield "Stability Matrix", Path(roaming) / "StabilityMatrix" / "Models"
            yield from _named_by(Path(roaming) / _DESKTOP_FILE)
    elif sys.platform == "darwin":
        yield from _named_by(home / "Library" / "Application Support" / _DESKTOP_FILE)
    for parent in parents:
        for name, tool in _NAMES:
            folder = parent / name
            yield tool, folder
            yield from _named_by(folder / _PATHS_FILE)


def _named_by(file: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folders that a ComfyUI with this file looks into beside its own."""
    try:
        content = read_bounded(file, _MOST_BYTES)
    except (OSError, ValueError):
        return
    for folder in folders_in_paths_file(content.decode(errors="replace"), file.parent):
        yield "ComfyUI", folder


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder
