"""Previews of latents by a tiny autoencoder (TAESD)."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from engine.checkpoints.diffusers_folder import ReadIndex
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.architecture import TinyDecoder
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts
from engine.families.shared.kl_vae.autoencoder import has_tiny_vae
from engine.families.shared.kl_vae.tiny_vaes import find_tiny_decoder
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder
from engine.weights.weight_set import WeightSet


class LatentPreviews(msgspec.Struct, frozen=True):
    """A `PreviewModel`; `tiny_spaces` are the latent spaces with a tiny VAE, by name."""

    checkpoint: IdentifiedCheckpoint
    tiny_spaces: Mapping[str, LatentSpace]

    def tiny_decoder(
        self, files: Iterable[Path], read: ReadIndex, most_cells: int
    ) -> TinyDecoder | None:
        """Return the checkpoint's own tiny VAE, else a tiny VAE among the files, or None."""
        if has_tiny_vae(self.checkpoint):
            return _decoder(self.checkpoint.parts, most_cells, 1.0)
        space = self.tiny_spaces.get(self.checkpoint.latent.space)
        found = find_tiny_decoder(files, space, read) if space else None
        if found is None or space is None:
            return None
        return _decoder(found, most_cells, space.scale, space.shift)


def _decoder(parts: Parts, most_cells: int, scale: float, shift: float = 0.0) -> TinyDecoder:
    source = parts.sources[Component.VAE]
    config = source.config
    assert isinstance(config, TinyVaeConfig), "it was found as one"
    # Whoever shows a packed latent unpacks it, as cells of one channel alone can be averaged.
    plain = msgspec.structs.replace(config, latent_channels=config.core_channels, patch=1)
    sizes = {"batch": offered(1, 1, 1)}
    sizes |= {side: offered(1, most_cells, most_cells) for side in ("height", "width")}
    weights = WeightSet(parts.digest, source.weights)
    network = Network("preview", lambda g: tiny_decoder(g, plain), weights, sizes)
    return TinyDecoder(network, scale, shift, config.patch)
