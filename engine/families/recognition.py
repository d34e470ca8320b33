"""The tensors of a file as a listing, and the rules for files of which no family makes pictures.

A user who picks the wrong file is told what it is. The rules are rows of a table, in
`other_checkpoints` and `other_parts`. Where there is a whole checkpoint only the rows for what
gives its UNet another meaning count: a stray tensor makes no LoRA of a checkpoint.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backends.base import FileSlice
from engine.families.kind import Kind
from engine.families.other_checkpoints import CHECKPOINTS, UNETS
from engine.families.other_parts import ADAPTERS, PARTS

# A file is of the first kind that its listing matches.
KINDS: tuple[Kind, ...] = (*UNETS, *ADAPTERS, *CHECKPOINTS, *PARTS)


@dataclass(frozen=True)
class Listing:
    """The tensors of a file, or of all parts of a folder, for rules over their names and shapes."""

    tensors: Mapping[str, FileSlice]

    @cached_property
    def text(self) -> str:
        """The listing as text: `name [shape]` a line, each between two line ends."""
        lines = (f"{name} {list(tensor.shape)}" for name, tensor in self.tensors.items())
        return "\n" + "\n".join(lines).replace(", ", ",") + "\n"


def foreign_kind(listing: Listing, *, holds_denoiser: bool) -> Kind | None:
    """The kind a listing is of; None for none.

    `holds_denoiser`: a whole denoiser is in it, so only kinds beside a checkpoint count.
    """
    kinds = (kind for kind in KINDS if kind.beside_checkpoint or not holds_denoiser)
    return next((kind for kind in kinds if kind.matches(listing.text)), None)
