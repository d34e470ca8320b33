"""The kind of a control network's maps, guessed by the name of its file or folder.

No tensor tells it. The words are those of the usual files: lllyasviel's, the collections of
Mikubill, kohya, xinsir and bdsqlsz, TencentARC's and Stability AI's.
"""

import re
from pathlib import Path

from engine.api.preprocessors import ControlKind

# Words of names, special ones before those that are part of others.
_WORDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"recolou?r|grayscale", ControlKind.RECOLOR),
        (r"inpaint|repaint", ControlKind.INPAINT),
        (r"shuffle", ControlKind.SHUFFLE),
        (r"soft[-_ ]?edge|(?<![a-z])hed(?![a-z])|pidi|teed", ControlKind.SOFTEDGE),
        (r"scribble|sketch", ControlKind.SCRIBBLE),
        (r"line[-_ ]?art", ControlKind.LINEART),
        (r"canny", ControlKind.CANNY),
        (r"depth|zoe|midas", ControlKind.DEPTH),
        (r"pose", ControlKind.POSE),
        (r"normal", ControlKind.NORMAL),
        (r"(?<![a-z])seg", ControlKind.SEG),
        (r"(?<![a-z])tile|blur", ControlKind.TILE),
        (r"colou?r", ControlKind.COLOR),
    )
)
# sd-webui-controlnet and ComfyUI know a network whose outputs are means by this word alone.
_POOLED = "shuffle"


def kind_by_name(path: Path) -> ControlKind | None:
    """Return the kind of maps that a file's name tells, else that of its folder; None for none."""
    own = path.name if path.is_dir() else path.stem
    names = [own.lower(), path.parent.name.lower()]
    found = (kind for name in names for pattern, kind in _WORDS if pattern.search(name))
    return next(found, None)


def pools_by_name(path: Path) -> bool:
    """Tell whether a file's name tells that the network's outputs are means over the picture."""
    return _POOLED in path.name.lower()
