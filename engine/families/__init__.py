"""Checkpoints: their families, their parts, the sizes of these, and where each weight lies.

`identify` is the way in. A family is a folder (`sd1`): its constants, what recognises it, and how
its parts fit. What several families share is in `shared`, in rooms named for what they hold:
`shared.keys` (names in files to canonical names), `shared.stable_diffusion` (sizes, training, fit),
`shared.clip`, `shared.unet`, `shared.kl_vae`. `registry` lists the families, `finding` asks
them, and `recognition` names files that are something else, by the rows in `other_checkpoints` and
`other_parts`. `family` is what a family must say, `base` the vocabulary.

Imported by the pipeline and what is above it; imports `engine.checkpoints` and `engine.graphs`. To
add a family: write `<family>/__init__.py` with its `FAMILY`, add its line to `registry` and its
name to the contract of imports in `pyproject.toml`, and drop its row from `other_checkpoints`.
Families do not import each other.
"""

from engine.families.base import (
    Component,
    ComponentSource,
    IdentifiedCheckpoint,
    LatentFormat,
)
from engine.families.identify import identify, require_complete, supply

__all__ = [
    "Component",
    "ComponentSource",
    "IdentifiedCheckpoint",
    "LatentFormat",
    "identify",
    "require_complete",
    "supply",
]
