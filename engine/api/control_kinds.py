"""The kinds of maps that the name of a control network tells.

No tensor tells it. The words are those of the usual files: lllyasviel's, the collections of
Mikubill, kohya, xinsir and bdsqlsz, TencentARC's and Stability AI's.
"""

import re

from engine.api.map_choices import ControlKind

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
        # Recolouring has colours of its own, and "colorfix" is a way of tiles.
        (r"(?<!re)colou?r(?!fix)", ControlKind.COLOR),
    )
)


def kinds_in_name(name: str) -> tuple[ControlKind, ...]:
    """Return the kinds of maps that a file's or a folder's name tells; special words come first."""
    name = name.lower()
    return tuple(dict.fromkeys(kind for pattern, kind in _WORDS if pattern.search(name)))
