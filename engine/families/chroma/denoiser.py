"""Chroma's transformer as a denoiser: its network, and its inputs at each step."""

from collections.abc import Sequence
from dataclasses import dataclass

from backends.base import Array
from engine.compile.shapes import offered
from engine.families.checkpoint import Component
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import MOST_PATCHES, MOST_TOKENS, FlowDenoiser
from engine.graphs.chroma import ChromaConfig, chroma, modulation_waves
from engine.graphs.flux import PATCH
from engine.graphs.flux_positions import rotations
from engine.graphs.operators import GraphBuilder
from engine.sampling.types import Latent


@dataclass(frozen=True, slots=True, eq=False)
class ChromaDenoiser(FlowDenoiser):
    """A `DenoiserModel` for Chroma's transformer."""

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""
        chroma(g, self._config)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        patches = (cells[0] // PATCH) * (cells[1] // PATCH)
        most = MOST_PATCHES + MOST_TOKENS
        return {
            "tokens": offered(1, tokens, MOST_TOKENS),
            "patches": offered(1, patches, MOST_PATCHES),
            "positions": offered(1, tokens + patches, most),
        }

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the approximator's input; guidance is no input of the network."""
        return {"modulation_waves": modulation_waves(self._config, timestep)}

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the rotary embedding of the tokens of a picture's size."""
        assert not references, "the family takes none"
        downscale = self.checkpoint.latent.downscale
        return rotations(self._config, (height // downscale, width // downscale))

    @property
    def _config(self) -> ChromaConfig:
        return config_of(self.checkpoint, Component.DENOISER, ChromaConfig)
