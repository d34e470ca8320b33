"""Flux.1's transformer as a denoiser: its network, and its inputs at each step."""

from dataclasses import dataclass, field

import numpy as np

from backends.base import Array
from engine.api.features import ConcatChannels
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    component_network,
    config_of,
    picture_dimensions,
)
from engine.graphs.flux import PATCH, FluxConfig, flux, rotations, wave_embedding
from engine.graphs.image_prompts import ImagePromptShape
from engine.sampling.types import Latent

_MAX_CONTEXTS = 16
# The usual numbers of tokens of a text.
LEAST_TOKENS, MOST_TOKENS = 256, 512
# Guidance is embedded as a timestep is, multiplied like a level.
_THOUSAND = 1000
# The most tokens of a picture: it has at most 2048 pixels a side.
_MOST_PATCHES = 128 * 128

_Shape = tuple[int, int, int, int, int]


def concat_channels(checkpoint: IdentifiedCheckpoint) -> ConcatChannels:
    """Return the kind of channels beside the latent's, from the numbers of a token."""
    source = checkpoint.components.get(Component.DENOISER)
    config = source.config if source else None
    if not isinstance(config, FluxConfig):
        return ConcatChannels.NONE
    is_fill = config.in_channels == fill_channels(config, checkpoint.latent.downscale)
    return ConcatChannels.FILL if is_fill else ConcatChannels.NONE


def fill_channels(config: FluxConfig, downscale: int) -> int:
    """Return the numbers of a token of Fill: two latents, and the mask's pixels in its cells."""
    return 2 * config.out_channels + PATCH**2 * downscale**2


@dataclass(frozen=True, slots=True, eq=False)
class FluxDenoiser:
    """A `DenoiserModel` for Flux.1's transformer."""

    checkpoint: IdentifiedCheckpoint
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[_Shape, Network] = field(default_factory=dict[_Shape, Network], init=False)

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = MOST_TOKENS,
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
        return component_network(
            self.checkpoint,
            Component.DENOISER,
            "denoiser",
            lambda g: flux(g, config),
            picture_dimensions(self.checkpoint, height, width, downscale, rows)
            | {
                "contexts": offered(1, contexts, _MAX_CONTEXTS),
                "tokens": offered(LEAST_TOKENS, tokens, MOST_TOKENS),
                "patches": offered(1, patches, _MOST_PATCHES),
            },
        )

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """No layer's name: tokens of pictures and texts attend to one another in all layers."""
        return ()

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep, and of guidance if the network takes it."""
        inputs = {"timestep_embedding": wave_embedding(timestep)}
        if self._config.takes_guidance:
            inputs["guidance_embedding"] = wave_embedding(_THOUSAND * guidance)
        return inputs

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return the cosines and sines by which the tokens of a picture's size turn."""
        downscale = self.checkpoint.latent.downscale
        return rotations(self._config, (height // downscale, width // downscale))

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return Fill's channels: the picture with its painted part blanked, and the mask's pixels.

        Without a mask all of a grey picture is painted (ComfyUI `model_base.Flux.concat_cond`).
        """
        if concat_channels(self.checkpoint) is not ConcatChannels.FILL or hidden is None:
            return None
        pixels = self.checkpoint.latent.downscale**2
        shown = np.ones_like(hidden[:, :1]).repeat(pixels, axis=1) if mask is None else mask
        return np.concatenate([hidden, shown], axis=1)

    @property
    def _config(self) -> FluxConfig:
        return config_of(self.checkpoint, Component.DENOISER, FluxConfig)
