"""Upscalers in the user's folders, by the names of their files or by AUTOMATIC1111's names."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.folders import SAFETENSORS_SUFFIXES, weights_below

_SUFFIXES = SAFETENSORS_SUFFIXES | {".pth", ".pt"}
# The folders of upscalers in ComfyUI's, A1111's and Stability Matrix's names, in lower case.
_FOLDERS = frozenset({"upscale_models", "esrgan", "realesrgan", "swinir", "dat"})
# The files that A1111 downloads, by the names in its list (`modules/realesrgan_model.py`).
_OF_A1111: Mapping[str, str] = {
    "R-ESRGAN 4x+": "RealESRGAN_x4plus",
    "R-ESRGAN 4x+ Anime6B": "RealESRGAN_x4plus_anime_6B",
    "R-ESRGAN 2x+": "RealESRGAN_x2plus",
    "R-ESRGAN General 4xV3": "realesr-general-x4v3",
    "R-ESRGAN General WDN 4xV3": "realesr-general-wdn-x4v3",
    "R-ESRGAN AnimeVideo": "realesr-animevideov3",
    "SwinIR 4x": "SwinIR_4x",
}


def find_by_name(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the upscaler of this name in a folder of upscalers below `folders`; None without one.

    A name may leave out its suffix, and may be one of AUTOMATIC1111's list.
    """
    names = {name, _OF_A1111.get(name, name)}
    below = (path for folder in folders for path in weights_below(folder, _SUFFIXES))
    named = (path for path in below if names & {path.name, path.stem})
    return next((path for path in named if _is_of_upscalers(path)), None)


def _is_of_upscalers(path: Path) -> bool:
    return any(folder.name.lower() in _FOLDERS for folder in path.parents)
