"""Flux.1's transformer as a denoiser: its network, and its inputs at each step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.api.features import ConcatChannels
from engine.compile.shapes import offered
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import (
    LEAST_TOKENS,
    MOST_PATCHES,
    MOST_TOKENS,
    FlowDenoiser,
    ReferenceSizes,
)
from engine.graphs.flux import PATCH, FluxConfig, flux, wave_embedding
from engine.graphs.flux_positions import rotations, side_by_side
from engine.graphs.operators import GraphBuilder
from engine.sampling.types import Latent

# Guidance is embedded as a timestep is, multiplied like a level.
_THOUSAND = 1000
# The most reference pictures, and the most tokens of one (`reference_size`).
MOST_REFERENCES = 4
_MOST_OF_ONE = 4150


def concat_channels(checkpoint: IdentifiedCheckpoint) -> ConcatChannels:
    """Return the kind of channels beside the latent's, from the numbers of a token."""
    source = checkpoint.components.get(Component.DENOISER)
    config = source.config if source else None
    if not isinstance(config, FluxConfig):
        return ConcatChannels.NONE
    if config.in_channels == fill_channels(config, checkpoint.latent.downscale):
        return ConcatChannels.FILL
    takes_map = config.in_channels == map_channels(config)
    return ConcatChannels.MAP if takes_map else ConcatChannels.NONE


def fill_channels(config: FluxConfig, downscale: int) -> int:
    """Return the numbers of a token of Fill: two latents, and the mask's pixels in its cells."""
    return 2 * config.out_channels + PATCH**2 * downscale**2


def map_channels(config: FluxConfig) -> int:
    """Return the numbers of a token of Canny and Depth: two latents, the second that of a map."""
    return 2 * config.out_channels


@dataclass(frozen=True, slots=True, eq=False)
class FluxDenoiser(FlowDenoiser):
    """A `DenoiserModel` for Flux.1's transformer."""

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""
        flux(g, self._config, residuals=self.checkpoint.changes.residuals)

    def emit_with_references(self, g: GraphBuilder) -> None:
        """Emit the network that also sees reference pictures."""
        flux(g, self._config, references=True, residuals=self.checkpoint.changes.residuals)

    def reference_dimensions(self, patches: int, references: ReferenceSizes) -> Dimensions:
        """Return the dimensions of tokens with those of reference pictures; `patches`: without."""
        shown = sum((height // PATCH) * (width // PATCH) for height, width in references)
        most = MOST_REFERENCES * _MOST_OF_ONE
        return {
            "patches": offered(2, patches + shown, MOST_PATCHES + most),
            "reference_cells": offered(PATCH, PATCH * shown, PATCH * most),
        }

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        patches = (cells[0] // PATCH) * (cells[1] // PATCH)
        return {
            "tokens": offered(LEAST_TOKENS, tokens, MOST_TOKENS),
            "patches": offered(1, patches, MOST_PATCHES),
        }

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep, and of guidance if the network takes it."""
        inputs = {"timestep_embedding": wave_embedding(timestep)}
        if self._config.takes_guidance:
            inputs["guidance_embedding"] = wave_embedding(_THOUSAND * guidance)
        return inputs

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the tokens of references, and the rotary embedding of all tokens of pictures."""
        downscale = self.checkpoint.latent.downscale
        sizes = [(reference.shape[2], reference.shape[3]) for reference in references]
        rotary = rotations(self._config, (height // downscale, width // downscale), sizes)
        return rotary | {"references": side_by_side(references)} if references else rotary

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return Fill's channels: the picture with its painted part blanked, and the mask's pixels.

        Without a mask all of a grey picture is painted (ComfyUI `model_base.Flux.concat_cond`). For
        Canny and Depth it is the latent of the map, `hidden`.
        """
        kind = concat_channels(self.checkpoint)
        if kind is ConcatChannels.MAP:
            return hidden
        if kind is not ConcatChannels.FILL or hidden is None:
            return None
        pixels = self.checkpoint.latent.downscale**2
        shown = np.ones_like(hidden[:, :1]).repeat(pixels, axis=1) if mask is None else mask
        return np.concatenate([hidden, shown], axis=1)

    @property
    def _config(self) -> FluxConfig:
        return config_of(self.checkpoint, Component.DENOISER, FluxConfig)
