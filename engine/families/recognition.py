"""The tensors of a file as a listing, and the rules that name foreign files.

A user who picks the wrong file is told its kind. The rules are the rows of the tables in
`other_checkpoints` and `other_parts`. For a file with a whole denoiser, only the rows with
`beside_checkpoint` count: one stray LoRA tensor does not make a checkpoint a LoRA.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backends.base import FileSlice
from engine.families.kind import Kind
from engine.families.other_checkpoints import CHECKPOINTS, UNETS
from engine.families.other_parts import ADAPTERS, PARTS

# All kinds of foreign files; the first kind that a listing matches counts.
KINDS: tuple[Kind, ...] = (*UNETS, *ADAPTERS, *CHECKPOINTS, *PARTS)


@dataclass(frozen=True)
class Listing:
    """The tensors of a file, or of all parts of a folder, for rules over their names and shapes."""

    tensors: Mapping[str, FileSlice]

    @cached_property
    def text(self) -> str:
        """The listing as text: one line `name [shape]` per tensor, with a newline before and after.

        The shape is without spaces, such as [320,4,3,3].
        """
        lines = (f"{name} {list(tensor.shape)}" for name, tensor in self.tensors.items())
        return "\n" + "\n".join(lines).replace(", ", ",") + "\n"


def foreign_kind(listing: Listing, *, holds_denoiser: bool) -> Kind | None:
    """Return the first kind of foreign file that a listing matches, or None.

    `holds_denoiser`: the listing has a whole denoiser, so only kinds `beside_checkpoint` count.
    """
    kinds = (kind for kind in KINDS if kind.beside_checkpoint or not holds_denoiser)
    return next((kind for kind in kinds if kind.matches(listing.text)), None)
