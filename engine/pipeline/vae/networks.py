"""The VAE's networks for the pictures of a job, whole or in tiles."""

import msgspec

from engine.api.values import Phase
from engine.compile.network import Network
from engine.families.architecture import AutoencoderModel, TiledAutoencoder
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import LatentFormat
from engine.pipeline.forecast import Run


class VaeNetworks(msgspec.Struct, frozen=True, eq=False):
    """The networks that encode and decode pictures of one size.

    `form` is the format of the latents, and `cells` the height and width of one; without `tiled`
    pictures are processed whole.
    """

    model: AutoencoderModel
    form: LatentFormat
    cells: tuple[int, int]
    encoder: Network
    decoder: Network
    tiled: TiledAutoencoder | None

    def encoding(self, count: int, *, per_picture: bool = False) -> tuple[Run, ...]:
        """Return the runs that encode `count` pictures: once in the job, or `per_picture`."""
        parts = self.tiled.encoding if self.tiled else (self.encoder,)
        return tuple(
            Run(Phase.ENCODE, part, times=count, per_picture=per_picture, size=self._area)
            for part in parts
        )

    def decoding(self) -> tuple[Run, ...]:
        """Return the runs that decode one picture."""
        parts = self.tiled.decoding if self.tiled else (self.decoder,)
        return tuple(Run(Phase.DECODE, part, per_picture=True, size=self._area) for part in parts)

    def in_tiles(self, longest: int) -> TiledAutoencoder | None:
        """Return the autoencoder in tiles of at most `longest` cells along a side.

        None where `longest` is 0, the picture fits in one tile, or the autoencoder has no tiles.
        """
        if not longest or max(self.cells) <= longest:
            return None
        return self.model.tiled(self.cells, longest)

    @property
    def _area(self) -> int:
        return self.cells[0] * self.cells[1]


def vae_networks(
    checkpoint: IdentifiedCheckpoint, size: tuple[int, int], tile: int | None
) -> VaeNetworks:
    """Return a checkpoint's networks for pictures of this height and width in pixels.

    `tile` is the side of a tile in pixels, if any.
    """
    model, form = checkpoint.architecture.autoencoder, checkpoint.latent
    cells = size[0] // form.downscale, size[1] // form.downscale
    # One object for each network in the whole job, so that a loaded network is found again.
    whole = VaeNetworks(model, form, cells, model.encoder(*size), model.decoder(*size), None)
    return msgspec.structs.replace(whole, tiled=whole.in_tiles((tile or 0) // form.downscale))
