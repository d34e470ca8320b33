"""Stable Diffusion 3's transformer as a denoiser: its network, and its inputs at each step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.shapes import offered
from engine.errors import EngineError
from engine.families.checkpoint import Component
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import MOST_PATCHES, FlowDenoiser
from engine.graphs.control_residuals import JointForm
from engine.graphs.flux import wave_embedding
from engine.graphs.operators import GraphBuilder
from engine.graphs.sd3 import PATCH, Sd3Config, sd3
from engine.sampling.types import Latent
from engine.weights.sources import Weight, as_source

# A chunk of CLIP's alone, and one beside the positions of T5 that the network was trained with.
_LEAST_TOKENS, _MOST_TOKENS = 77, 77 + 256


@dataclass(frozen=True, slots=True, eq=False)
class Sd3Denoiser(FlowDenoiser):
    """A `DenoiserModel` for the transformer."""

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""
        forms = [form for form in self.checkpoint.changes.residuals if isinstance(form, JointForm)]
        sd3(g, self._config, residuals=forms)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        return token_dimensions(cells, tokens)

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep; guidance is no input of the network."""
        return {"timestep_embedding": wave_embedding(timestep)}

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the middle of the table of places, [patches, width] in float32.

        The whole table, of up to 453 MB, stays in the file. Raises EngineError(REQUEST_INVALID) for
        a picture with more tokens along a side than the table.
        """
        assert not references, "the family takes none"
        stored = self.checkpoint.components[Component.DENOISER].weights["pos_embed.pos_embed"]
        side = PATCH * self.checkpoint.latent.downscale
        return shown_places(stored, self._config, (height, width), side)

    @property
    def _config(self) -> Sd3Config:
        return config_of(self.checkpoint, Component.DENOISER, Sd3Config)


def token_dimensions(cells: tuple[int, int], tokens: int) -> Dimensions:
    """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
    patches = (cells[0] // PATCH) * (cells[1] // PATCH)
    return {
        "tokens": offered(_LEAST_TOKENS, tokens, _MOST_TOKENS),
        "patches": offered(1, patches, MOST_PATCHES),
    }


def shown_places(
    stored: Weight, config: Sd3Config, size: tuple[int, int], side: int
) -> dict[str, Array]:
    """Return the middle of a table of places for a height and width in pixels.

    `side` is that of a token in pixels. Raises EngineError(REQUEST_INVALID) for a picture with more
    tokens along a side than the table.
    """
    most, (rows, columns) = config.places, (length // side for length in size)
    if max(rows, columns) > most:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "This model makes pictures of at most {pixels} pixels a side.", pixels=most * side
            ),
            sentence("Choose a smaller size."),
        )
    table = as_source(stored).reshaped((most, most, config.width))
    top, left = (most - rows) // 2, (most - columns) // 2
    shown = table.rows(top, top + rows).read()[:, left : left + columns]
    return {"places": np.ascontiguousarray(shown, np.float32).reshape(rows * columns, -1)}
