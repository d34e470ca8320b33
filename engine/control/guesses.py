"""Guesses at a control network by the names of its file and folder."""

from pathlib import Path

from engine.api.control_kinds import kinds_in_name
from engine.api.preprocessors import ControlKind

# sd-webui-controlnet and ComfyUI know a network whose outputs are means by this word alone.
_POOLED = "shuffle"


def kind_by_name(path: Path) -> ControlKind | None:
    """Return the kind of maps that a file's name tells, else that of its folder; None for none."""
    own = path.name if path.is_dir() else path.stem
    return next(iter((*kinds_in_name(own), *kinds_in_name(path.parent.name))), None)


def pools_by_name(path: Path) -> bool:
    """Tell whether a file's name tells that the network's outputs are means over the picture."""
    return _POOLED in path.name.lower()
