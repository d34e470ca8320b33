"""Families of checkpoints: recognising a file, reading its components and locating its weights.

`identify` is the entry point. Each family is a folder (`sd1`) with its constants, the test that
recognises its files, and the checks that its parts fit together. Code for several families is in
`shared`: `shared.keys` maps the names of tensors in files to canonical names,
`shared.stable_diffusion` reads sizes and training and checks the fit of parts; `shared.clip`,
`shared.unet` and `shared.kl_vae` describe networks. `registry` lists the families; `recognition`
asks each of them about a file, and names files of other kinds by the tables in
`foreign_checkpoints` and `foreign_parts`. `family` has the interface of a family.

The pipeline and the layers above it import this package; this package imports
`engine.checkpoints` and `engine.graphs`. Families do not import each other. How to add one:
docs/adding_a_family.md.
"""

from engine.families.checkpoint import (
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
