"""Z-Image's transformer as a denoiser: its network, and its inputs at each step."""

from dataclasses import dataclass, field

from backends.base import Array
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    component_network,
    config_of,
    picture_dimensions,
)
from engine.graphs.flux import wave_embedding
from engine.graphs.image_prompts import ImagePromptShape
from engine.graphs.zimage import MULTIPLE, PATCH, ZImageConfig, size_inputs, zimage
from engine.sampling.types import Latent

_MAX_CONTEXTS = 16
# The usual numbers of tokens of a text.
LEAST_TOKENS, MOST_TOKENS = 64, 512
# The network counts the way to the picture, where timesteps count that to the noise.
_THOUSAND = 1000.0
# The most tokens of a picture: it has at most 2048 pixels a side.
_MOST_PATCHES = 128 * 128

_Shape = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class ZImageDenoiser:
    """A `DenoiserModel` for Z-Image's transformer."""

    checkpoint: IdentifiedCheckpoint
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[_Shape, Network] = field(default_factory=dict[_Shape, Network], init=False)

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = LEAST_TOKENS,
        rows: int = 1,
        image_prompts: tuple[ImagePromptShape, ...] = (),
    ) -> Network:
        """Return the network for a picture size in pixels; see `DenoiserModel.network`."""
        assert not image_prompts, "the family takes none"
        shape = height, width, contexts, tokens, rows
        if shape not in self._networks:
            self._networks[shape] = self._network(*shape)
        return self._networks[shape]

    def _network(self, height: int, width: int, contexts: int, tokens: int, rows: int) -> Network:
        config, downscale = self._config, self.checkpoint.latent.downscale
        patches = (height // (PATCH * downscale)) * (width // (PATCH * downscale))
        patches += -patches % MULTIPLE
        return component_network(
            self.checkpoint,
            Component.DENOISER,
            "denoiser",
            lambda g: zimage(g, config),
            picture_dimensions(self.checkpoint, height, width, downscale, rows)
            | {
                "contexts": offered(1, contexts, _MAX_CONTEXTS),
                "tokens": offered(LEAST_TOKENS, tokens, max(tokens, MOST_TOKENS)),
                "image_tokens": offered(MULTIPLE, patches, _MOST_PATCHES),
            },
        )

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """No layer's name: tokens of pictures and texts attend to one another in all layers."""
        return ()

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep."""
        return {"timestep_embedding": wave_embedding(_THOUSAND - timestep)}

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return the turns of the tokens of a picture's size, and those that fill them up."""
        downscale = self.checkpoint.latent.downscale
        return size_inputs(self._config, (height // downscale, width // downscale))

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return None: the network has no such channels."""
        return None

    @property
    def _config(self) -> ZImageConfig:
        return config_of(self.checkpoint, Component.DENOISER, ZImageConfig)
