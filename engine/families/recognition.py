"""What a file is, if not a checkpoint of a family we run: rules over the listing of its tensors.

A user who picks the wrong file is told what it is. The rules are rows of a table, in
`other_checkpoints` and `other_parts`. Where there is a whole UNet for pictures only the rows for
what gives such a UNet another meaning count: a stray tensor makes no LoRA of a checkpoint.
"""

from collections.abc import Mapping

from backends.base import FileSlice
from engine.families.kind import Kind
from engine.families.other_checkpoints import CHECKPOINTS, UNETS
from engine.families.other_parts import ADAPTERS, PARTS
from engine.families.shared.unet.unet_signs import unet_signs

# The first that a listing matches is what it is.
KINDS: tuple[Kind, ...] = (*UNETS, *ADAPTERS, *CHECKPOINTS, *PARTS)


def listing(tensors: Mapping[str, FileSlice]) -> str:
    """The tensors as text, one `name [shape]` a line, each between two line ends."""
    lines = (f"{name} {list(tensor.shape)}" for name, tensor in tensors.items())
    return "\n" + "\n".join(lines).replace(", ", ",") + "\n"


def recognise(text: str) -> Kind | None:
    """The kind a listing is of, or None."""
    has_unet = unet_signs(text) is not None
    kinds = (kind for kind in KINDS if kind.beside_unet or not has_unet)
    return next((kind for kind in kinds if kind.matches(text)), None)
