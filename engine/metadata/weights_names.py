"""Names of files of weights in other tools' texts: without folders and suffix."""

from pathlib import PureWindowsPath

_SUFFIXES = (".safetensors", ".ckpt", ".pth", ".pt", ".bin", ".gguf")


def weights_name(path: str) -> str:
    """Return the name of a file or folder without its suffix, for paths of any system."""
    name = PureWindowsPath(path).name
    stem, _, suffix = name.rpartition(".")
    return stem if stem and f".{suffix.lower()}" in _SUFFIXES else name
