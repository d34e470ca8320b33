"""The autoencoder's networks for the pictures of a job, whole or in tiles."""

from dataclasses import dataclass

from engine.api.values import Phase
from engine.compile.network import Network
from engine.families.architecture import AutoencoderModel, TiledAutoencoder
from engine.pipeline.forecast import Run


@dataclass(frozen=True, slots=True, eq=False)
class VaeNetworks:
    """The networks that take pictures of one size to latents and back.

    `cells` are the height and the width of a latent; without `tiled` pictures go through whole.
    """

    model: AutoencoderModel
    cells: tuple[int, int]
    encoder: Network
    decoder: Network
    tiled: TiledAutoencoder | None

    def encoding(self, count: int) -> tuple[Run, ...]:
        """The runs of encoding so many pictures."""
        parts = self.tiled.encoding if self.tiled else (self.encoder,)
        return tuple(Run(Phase.ENCODE, part, times=count, size=self._area) for part in parts)

    def decoding(self) -> tuple[Run, ...]:
        """The runs of decoding each picture."""
        parts = self.tiled.decoding if self.tiled else (self.decoder,)
        return tuple(Run(Phase.DECODE, part, each=True, size=self._area) for part in parts)

    def in_tiles(self, longest: int) -> TiledAutoencoder | None:
        """The autoencoder in tiles of so many cells along a side.

        None where it has no tiles, or the picture is no larger than one.
        """
        if not longest or max(self.cells) <= longest:
            return None
        return self.model.tiled(self.cells, longest)

    @property
    def _area(self) -> int:
        return self.cells[0] * self.cells[1]


def vae_networks(
    model: AutoencoderModel, size: tuple[int, int], downscale: int, tile: int | None
) -> VaeNetworks:
    """The networks for pictures of this height and width.

    `downscale` is the number of pixels along a cell, `tile` the side of tiles in pixels, if any.
    """
    cells = size[0] // downscale, size[1] // downscale
    # One of each for the whole job: what is loaded is known again.
    whole = VaeNetworks(model, cells, model.encoder(*size), model.decoder(*size), None)
    tiled = whole.in_tiles((tile or 0) // downscale)
    return VaeNetworks(model, cells, whole.encoder, whole.decoder, tiled)
