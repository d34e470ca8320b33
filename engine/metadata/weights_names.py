"""Names of files of weights in other tools' texts: without folders and suffix."""

from pathlib import PureWindowsPath

from engine.api.weight_suffixes import without_weight_suffix


def weights_name(path: str) -> str:
    """Return the name of a file or folder without its suffix, for paths of any system."""
    return without_weight_suffix(PureWindowsPath(path).name)
