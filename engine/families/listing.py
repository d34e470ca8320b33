"""The tensors of a file as a listing, for the rules that recognise files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backends.base import FileSlice


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
