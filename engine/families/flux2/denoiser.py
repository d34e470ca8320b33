"""FLUX.2's transformer as a denoiser: its network, and its inputs at each step."""

from collections.abc import Sequence
from dataclasses import dataclass

from backends.base import Array
from engine.compile.shapes import offered
from engine.families.checkpoint import Component
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import (
    MOST_PATCHES,
    MOST_TOKENS,
    FlowDenoiser,
    ReferenceSizes,
)
from engine.graphs.flux import wave_embedding
from engine.graphs.flux2 import Flux2Config, flux2, rotations, side_by_side
from engine.graphs.operators import GraphBuilder
from engine.sampling.types import Latent

# The most reference pictures, and the most tokens of one (`reference_scale`).
MOST_REFERENCES = 4
_MOST_OF_ONE = 64 * 64


@dataclass(frozen=True, slots=True, eq=False)
class Flux2Denoiser(FlowDenoiser):
    """A `DenoiserModel` for FLUX.2's transformer."""

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""
        flux2(g, self._config)

    def emit_with_references(self, g: GraphBuilder) -> None:
        """Emit the network that also sees reference pictures."""
        flux2(g, self._config, references=True)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        return {
            "tokens": offered(MOST_TOKENS, tokens, max(tokens, MOST_TOKENS)),
            "patches": offered(1, cells[0] * cells[1], MOST_PATCHES),
        }

    def reference_dimensions(self, patches: int, references: ReferenceSizes) -> Dimensions:
        """Return the dimensions of tokens with those of reference pictures; `patches`: without."""
        shown = sum(height * width for height, width in references)
        most = MOST_REFERENCES * _MOST_OF_ONE
        return {
            "patches": offered(2, patches + shown, MOST_PATCHES + most),
            "reference_cells": offered(1, shown, most),
        }

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep."""
        return {"timestep_embedding": wave_embedding(timestep)}

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the tokens of references, and the rotary embedding of all tokens of pictures."""
        downscale = self.checkpoint.latent.downscale
        sizes = [(reference.shape[2], reference.shape[3]) for reference in references]
        rotary = rotations(self._config, (height // downscale, width // downscale), sizes)
        return rotary | {"references": side_by_side(references)} if references else rotary

    @property
    def _config(self) -> Flux2Config:
        return config_of(self.checkpoint, Component.DENOISER, Flux2Config)
