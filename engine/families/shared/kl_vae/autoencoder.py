"""The KL autoencoder and the tiny autoencoder (TAESD) as `AutoencoderModel`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import msgspec

from backends.base import Array
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.network import Network
from engine.errors import EngineError
from engine.families.architecture import AutoencoderModel
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    component_network,
    config_of,
    picture_dimensions,
)
from engine.families.shared.kl_vae.tiled import TiledVae
from engine.graphs.operators import GraphBuilder
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder


def has_tiny_vae(checkpoint: IdentifiedCheckpoint) -> bool:
    """Tell whether the checkpoint's VAE is a tiny autoencoder."""
    vae = checkpoint.components.get(Component.VAE)
    return vae is not None and isinstance(vae.config, TinyVaeConfig)


def autoencoder_of(
    checkpoint: IdentifiedCheckpoint, *, overflows_f16: bool = False
) -> AutoencoderModel:
    """Return the autoencoder of a checkpoint; see `KlAutoencoder` for `overflows_f16`."""
    if has_tiny_vae(checkpoint):
        return TinyAutoencoder(checkpoint)
    return KlAutoencoder(checkpoint, overflows_f16)


@dataclass(frozen=True, slots=True, eq=False)
class KlAutoencoder:
    """An `AutoencoderModel` whose encoder outputs means and logarithms of variances."""

    checkpoint: IdentifiedCheckpoint
    # True if the VAE's activations exceed the range of float16.
    overflows_f16: bool = False
    # Networks are kept, so that what is known of one is found again by identity.
    _networks: dict[tuple[str, int | None, int | None], Network] = field(
        default_factory=dict[tuple[str, int | None, int | None], Network], init=False
    )
    _in_tiles: dict[tuple[tuple[int, int], int], TiledVae] = field(
        default_factory=dict[tuple[tuple[int, int], int], TiledVae], init=False
    )

    def encoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the encoder, from pixels to moments; see `vae_encoder`."""
        return self._whole("vae_encoder", vae_encoder, 1, height, width)

    def decoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the decoder, from latents to pixels."""
        downscale = self.checkpoint.latent.downscale
        return self._whole("vae_decoder", vae_decoder, downscale, height, width)

    def _whole(
        self,
        name: str,
        emit: Callable[[GraphBuilder, VaeConfig], None],
        downscale: int,
        height: int | None,
        width: int | None,
    ) -> Network:
        key = name, height, width
        if key not in self._networks:
            size = picture_dimensions(self.checkpoint, height, width, downscale)
            config = self._config

            def emitted(g: GraphBuilder) -> None:
                emit(g, config)

            self._networks[key] = self._network(name, emitted, size)
        return self._networks[key]

    def tiled(self, cells: tuple[int, int], longest: int) -> TiledVae:
        """Return the VAE for a latent of `cells`, in tiles of at most `longest` cells a side."""
        key, wraps = (cells, longest), self.checkpoint.changes.wraps
        if key not in self._in_tiles:
            self._in_tiles[key] = TiledVae(self._config, self._network, cells, longest, wraps)
        return self._in_tiles[key]

    def require_encoder(self) -> None:
        """Raise nothing: a KL autoencoder has an encoder."""

    def encoded(self, output: Array) -> EncodedImage:
        """Return a picture's latent from the encoder's output."""
        of = EncodedImage.exactly if self._config.patch > 1 else EncodedImage.from_moments
        return of(output, self.checkpoint.latent)

    @property
    def _config(self) -> VaeConfig:
        return config_of(self.checkpoint, Component.VAE, VaeConfig)

    @property
    def _network(self) -> partial[Network]:
        return partial(
            component_network, self.checkpoint, Component.VAE, overflows_f16=self.overflows_f16
        )


class TinyAutoencoder(msgspec.Struct, frozen=True, eq=False):
    """An `AutoencoderModel` whose encoder outputs the latent itself."""

    checkpoint: IdentifiedCheckpoint

    def encoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the encoder, from pixels to latents; see `tiny_encoder`."""
        size = picture_dimensions(self.checkpoint, height, width, 1)
        emit = partial(tiny_encoder, config=self._config)
        return component_network(self.checkpoint, Component.VAE, "vae_encoder", emit, size)

    def decoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the decoder, from latents to pixels."""
        size = picture_dimensions(self.checkpoint, height, width, self.checkpoint.latent.downscale)
        emit = partial(tiny_decoder, config=self._config)
        return component_network(self.checkpoint, Component.VAE, "vae_decoder", emit, size)

    def tiled(self, cells: tuple[int, int], longest: int) -> None:
        """Return None: a tiny autoencoder is small enough to need no tiles."""

    def require_encoder(self) -> None:
        """Raise EngineError(CHECKPOINT_INCOMPLETE) where the file holds only a decoder."""
        if self._config.encoder_blocks is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_INCOMPLETE,
                sentence("The tiny VAE has a decoder only, and a picture is to be encoded."),
                sentence("Put its encoder beside it, as taesd_encoder beside taesd_decoder."),
            )

    def encoded(self, output: Array) -> EncodedImage:
        """Return a picture's latent from the encoder's output."""
        return EncodedImage.exactly(output, self.checkpoint.latent)

    @property
    def _config(self) -> TinyVaeConfig:
        return config_of(self.checkpoint, Component.VAE, TinyVaeConfig)
