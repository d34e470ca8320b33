"""Finds the folders of models of other programs on this computer: where they usually lie.

Nothing is searched through: each place is asked for by its name, and so are the folders that the
settings of a program name. Only files of weights below the folders that exist are counted.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

import msgspec

from app.library.tool_settings import (
    folders_in_settings,
    folders_of_comfy_desktop,
    folders_of_stability_matrix,
)
from engine.api.model_files import MODEL_SUFFIXES
from engine.file_paths import is_folder, is_same_place
from engine.folders import folders_of_models, weights_below

# Counting ends here: a program with more files is worth naming anyway.
MOST_COUNTED = 5000
# A1111 and its relatives.
_WEBUI = "Stable Diffusion WebUI"
_NAMES = (
    ("stable-diffusion-webui", _WEBUI),
    ("stable-diffusion-webui-forge", f"{_WEBUI} Forge"),
    ("stable-diffusion-webui-reForge", f"{_WEBUI} reForge"),
    ("sd-webui-forge-neo", f"{_WEBUI} Forge Neo"),
    ("sd-webui-forge-classic", f"{_WEBUI} Forge Classic"),
    ("stable-diffusion-webui-amdgpu", _WEBUI),
    ("stable-diffusion-webui-amdgpu-forge", f"{_WEBUI} Forge"),
    ("stable-diffusion-webui-directml", _WEBUI),
    # As their archives for Windows unpack.
    ("sd.webui/webui", _WEBUI),
    ("webui_forge_cu121_torch21/webui", f"{_WEBUI} Forge"),
    ("webui_forge_cu121_torch231/webui", f"{_WEBUI} Forge"),
    ("webui_forge_cu124_torch24/webui", f"{_WEBUI} Forge"),
    ("sd-webui", _WEBUI),
    ("webui", _WEBUI),
    ("sdnext", "SD.Next"),
    # The name of SD.Next's repository before.
    ("automatic", "SD.Next"),
    ("ComfyUI", "ComfyUI"),
    ("comfyui", "ComfyUI"),
    ("ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ("ComfyUI_windows_portable_nvidia/ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ("Fooocus", "Fooocus"),
    ("Fooocus_win64_2-1-831/Fooocus", "Fooocus"),
    ("Fooocus_win64_2-5-0/Fooocus", "Fooocus"),
    ("Fooocus_win64_2-5-0/Fooocus_win64_2-5-0/Fooocus", "Fooocus"),
    ("easy-diffusion", "Easy Diffusion"),
    ("EasyDiffusion", "Easy Diffusion"),
    ("invokeai", "InvokeAI"),
    ("InvokeAI", "InvokeAI"),
    ("SwarmUI/Models", "SwarmUI"),
    ("StabilityMatrix/Models", "Stability Matrix"),
    ("StabilityMatrix/Data/Models", "Stability Matrix"),
)
_PLACES = ("", "Documents", "AI", "ai", "apps", "Apps", "src", "git", "Downloads")
# Those of a disk of its own, on Windows.
_DRIVES = tuple(f"{letter}:/{place}" for letter in "CDEFG" for place in ("", "AI"))
# The file of ComfyUI's desktop program, in the system's folder for programs' settings.
_DESKTOP_FILE = "ComfyUI/extra_models_config.yaml"
# In the system's folder for programs' data; older versions keep models in their ComfyUI.
_KRITA = ("krita/ai_diffusion/server/models", "krita/ai_diffusion/server/ComfyUI")
# A folder of models with this name lies in its program's.
_MODELS = "Models"


class ToolFolder(msgspec.Struct, frozen=True):
    """A folder of another program with so many files of weights."""

    tool: str
    folder: Path
    files: int


def find_tools(
    home: Path, known: Iterable[Path], environment: Mapping[str, str] = os.environ
) -> tuple[ToolFolder, ...]:
    """Return the folders of other programs with files of weights, without those that are known.

    Of two folders, one in the other, the outer one; none that has a person's whole home in it.
    Touches the disk: not for the GUI thread.
    """
    looked = [place for folder in known for place in _looked_into(folder)]
    found: list[tuple[ToolFolder, Sequence[Path]]] = []
    for tool, folder in _candidates(home, environment):
        places = _looked_into(folder)
        if home.is_relative_to(folder) or _are_inside(places, looked):
            continue
        looked += places
        files = count_files(folder)
        if files:
            found.append((ToolFolder(tool, folder, files), places))
    return tuple(
        offer
        for offer, places in found
        if not any(_are_inside(places, outer) for _, outer in found if outer is not places)
    )


def _looked_into(folder: Path) -> Sequence[Path]:
    """Return the places that are looked into for a folder; none for one that is not there."""
    return tuple(map(_resolved, folders_of_models(None, [folder])))


def _are_inside(places: Iterable[Path], others: Sequence[Path]) -> bool:
    """True if each place is one of the others, or in one."""
    return all(
        any(place.is_relative_to(other) or is_same_place(place, other) for other in others)
        for place in places
    )


def count_files(folder: Path) -> int:
    """Return the number of files of weights in a named folder, at most `MOST_COUNTED`."""
    folders = folders_of_models(None, [folder])
    below = chain.from_iterable(weights_below(folder, MODEL_SUFFIXES) for folder in folders)
    return sum(1 for _ in islice(below, MOST_COUNTED))


def _candidates(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the folders that programs may have, each before those that its settings name."""
    for tool, folder in _usual_places(home, environment):
        if is_folder(folder):
            yield tool, folder
        program = folder.parent if folder.name == _MODELS else folder
        if is_folder(program):
            for named in folders_in_settings(program):
                yield tool, named
    yield from _told_to_the_system(home, environment)


def _usual_places(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    root = environment.get("INVOKEAI_ROOT")
    if root:
        yield "InvokeAI", Path(root)
    parents = [home / place for place in _PLACES]
    if sys.platform == "win32":
        parents += map(Path, _DRIVES)
        local = environment.get("LOCALAPPDATA")
        if local:
            yield "ComfyUI", Path(local) / "Programs" / "ComfyUI"
    for parent in parents:
        yield from ((tool, parent / name) for name, tool in _NAMES)


def _told_to_the_system(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the folders of programs that keep settings or data where the system has all of them."""
    folders = _system_folders(home, environment)
    if folders is None:
        return
    settings, data = folders
    for folder in folders_of_comfy_desktop(settings / _DESKTOP_FILE):
        yield "ComfyUI", folder
    for folder in (
        settings / "StabilityMatrix" / _MODELS,
        *folders_of_stability_matrix(settings / "StabilityMatrix"),
    ):
        yield "Stability Matrix", folder
    yield from (("Krita AI Diffusion", data / place) for place in _KRITA)


def _system_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, Path] | None:
    """Return the system's folders for programs' settings and for their data, where it has any."""
    if sys.platform == "win32":
        roaming = environment.get("APPDATA")
        return (Path(roaming), Path(roaming)) if roaming else None
    if sys.platform == "darwin":
        support = home / "Library" / "Application Support"
        return support, support
    return home / ".config", home / ".local" / "share"


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder
