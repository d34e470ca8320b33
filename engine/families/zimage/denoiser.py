"""Z-Image's transformer as a denoiser: its network, and its inputs at each step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.compile.shapes import offered
from engine.families.checkpoint import Component
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import MOST_PATCHES, MOST_TOKENS, FlowDenoiser
from engine.graphs.flux import wave_embedding
from engine.graphs.operators import GraphBuilder
from engine.graphs.zimage import PATCH, TOKEN_MULTIPLE, ZImageConfig, size_inputs, zimage
from engine.sampling.types import Latent

_LEAST_TOKENS = 64
# The network's timestep rises towards the picture, where a sampler's rises towards the noise.
_THOUSAND = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class ZImageDenoiser(FlowDenoiser):
    """A `DenoiserModel` for Z-Image's transformer."""

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""
        zimage(g, self._config)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        patches = (cells[0] // PATCH) * (cells[1] // PATCH)
        patches += -patches % TOKEN_MULTIPLE
        return {
            "tokens": offered(_LEAST_TOKENS, tokens, max(tokens, MOST_TOKENS)),
            "image_tokens": offered(TOKEN_MULTIPLE, patches, MOST_PATCHES),
        }

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep."""
        return {"timestep_embedding": wave_embedding(_THOUSAND - timestep)}

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the rotary embedding of the tokens of a picture's size and of their padding."""
        assert not references, "the family takes none"
        downscale = self.checkpoint.latent.downscale
        return size_inputs(self._config, (height // downscale, width // downscale))

    @property
    def _config(self) -> ZImageConfig:
        return config_of(self.checkpoint, Component.DENOISER, ZImageConfig)


def text_marks(context: Array) -> Mapping[str, Array]:
    """Return the attention masks of texts, without their padding and with it, for `zimage`.

    `context` is [contexts, tokens, width]; states of zeros at the end of a row are no tokens.
    is_token and is_seen are float32 [contexts, tokens], frame int64 [contexts, 1].
    """
    numbers = np.arange(int(context.shape[1]), dtype=np.int64)
    last = np.where((context != 0).any(axis=2), numbers, 0).max(axis=1, keepdims=True)
    lengths = last + 1
    filled = lengths + -lengths % TOKEN_MULTIPLE
    return {
        "is_token": (numbers < lengths).astype(np.float32),
        "is_seen": (numbers < filled).astype(np.float32),
        "frame": filled + 1,
    }
