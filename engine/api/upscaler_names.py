"""The names by which other tools' pictures call upscalers, and the files that they mean."""

from collections.abc import Mapping
from pathlib import PureWindowsPath

from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES

# The suffixes of upscalers' files, in lower case.
UPSCALER_SUFFIXES = (*SAFETENSORS_SUFFIXES, ".pth", ".pt")
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


def is_called(path: str, name: str) -> bool:
    """Return True if a name means the upscaler at a path.

    It may leave out the suffix and be one of AUTOMATIC1111's list; upper and lower case are alike.
    """
    return _bare(path) in {_bare(name), _bare(_OF_A1111.get(name, name))}


def _bare(path: str) -> str:
    name = PureWindowsPath(path.replace("/", "\\")).name.lower()
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and dot + suffix in UPSCALER_SUFFIXES else name
