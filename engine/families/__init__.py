"""What a checkpoint is: its family, its parts, their sizes, and where each weight lies.

`identify` is the way in. A family is one module (`sd1`): its constants, what recognises it, and how
its parts fit. What families share is beside them: `naming` (keys to canonical names), `sizes`
(shapes to configurations), `scaling` (fp8 weights and their scales), `fitting` (whether parts of
several files fit), `folder_parts` (the same from a diffusers folder), `training`
(prediction type), `recognition` (naming files that are something else, by the rows in
`other_checkpoints` and `other_parts`), `base` (the vocabulary).

Imported by the pipeline and what is above it; imports `engine.checkpoints` and `engine.graphs`. To
add a family: write `<family>.py` ending in a `Family`, add it to `identify.FAMILIES`, and drop its
row from `other_checkpoints`. Families do not import each other.
"""

from engine.families.base import (
    Component,
    ComponentConfig,
    ComponentSource,
    IdentifiedCheckpoint,
    LatentFormat,
)
from engine.families.identify import identify, require_complete, supply

__all__ = [
    "Component",
    "ComponentConfig",
    "ComponentSource",
    "IdentifiedCheckpoint",
    "LatentFormat",
    "identify",
    "require_complete",
    "supply",
]
