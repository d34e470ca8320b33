"""The comparisons as data: a cell is a tool's picture and Safelight's request for the same."""
# pyright: basic

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.fidelity import a1111, comfy, hugging_face
from tests.oracle.fidelity.networks import Networks
from tests.oracle.fidelity.ours import Asked
from tests.oracle.fidelity.picture import Picture

Render = Callable[[Networks, Picture], NDArray[np.uint8]]

RENDERERS: dict[str, Render] = {
    "A1111": a1111.render,
    "ComfyUI": comfy.render,
    "diffusers": hugging_face.render_diffusers,
    "InvokeAI": hugging_face.render_invoke,
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One comparison. `aspect` is "" in a tool's table and names the feature in its list.

    `without` is the tool's picture without the feature: how far it is off shows that the comparison
    would see the feature missing.
    """

    tool: str
    picture: Picture
    asked: Asked
    aspect: str = ""
    without: Picture | None = None

    @property
    def column(self) -> str:
        """The schedule's name in the tool."""
        return self.picture.schedule or "own"

    @property
    def name(self) -> str:
        """The name of the cell, which no other cell has."""
        head = f"{self.tool} on the card" if self.on_card else self.tool
        place = f"{self.picture.sampler}, {self.column}"
        return f"{head}: {self.aspect} ({place})" if self.aspect else f"{head}: {place}"

    @property
    def on_card(self) -> bool:
        """Return True if the cell is one of A1111's table of noise from an NVIDIA card."""
        return self.tool == "A1111" and not self.aspect and self.picture.source == "cuda"

    def reference(self, networks: Networks) -> NDArray[np.uint8]:
        """The tool's picture."""
        return RENDERERS[self.tool](networks, self.picture)

    def reference_without(self, networks: Networks) -> Any:
        """The tool's picture without the feature; None where there is no such thing."""
        return None if self.without is None else RENDERERS[self.tool](networks, self.without)
