"""Encodes pictures to latents and decodes latents, whole or in tiles."""

from collections.abc import Sequence

from backends.base import Array, Session
from engine import result_checks
from engine.api.values import ErrorCode, Phase
from engine.errors import EngineError
from engine.families.architecture import TiledAutoencoder
from engine.families.latents import EncodedImage
from engine.families.running import Problem
from engine.memory.plan import TILE_CELLS
from engine.pipeline.stages import Reporter, Stages
from engine.pipeline.vae.networks import VaeNetworks
from engine.sampling.types import Latent


class Autoencoder:
    """A checkpoint's VAE for pictures of one size; `form` is the format of its latents.

    It works in tiles if `networks.tiled` is given, or once memory ran out; see
    `engine.graphs.vae_tiles`.
    """

    def __init__(self, networks: VaeNetworks, stages: Stages, reporter: Reporter) -> None:
        self._networks, self.form = networks, networks.form
        self._stages, self._reporter = stages, reporter
        self._tiled = networks.tiled
        # Tiles need less memory than weights that are streamed to a device.
        self._streams = networks.in_tiles(TILE_CELLS) is None
        # True once a picture was processed in tiles because the whole did not fit in memory.
        self.ran_out_of_memory = False

    def encode(self, pictures: Sequence[Array]) -> list[EncodedImage]:
        """Encode pictures, float32 [1, 3, height, width] in [-1, 1], to latent distributions."""
        model = self._networks.model
        model.require_encoder()
        return [model.encoded(output) for output in self._encoder_outputs(pictures)]

    def decode(self, latent: Latent, problem: Problem) -> Array:
        """Decode a latent to float32 [1, 3, height, width] in [-1, 1].

        `problem` describes the fault of a result, which is then computed in a safer precision, or
        returns None.
        """
        unscaled, tiled = self.form.unscaled(latent), self._tiled
        if tiled is None:
            try:
                return self._decode_whole(unscaled, problem)
            except EngineError as error:
                tiled = self._tiles_after(error)
                if tiled is None:
                    raise
        return tiled.decode(unscaled, self._stages, self._reporter.progress, problem)

    def _encoder_outputs(self, pictures: Sequence[Array]) -> list[Array]:
        tiled = self._tiled
        if tiled is None:
            try:
                return self._encode_whole(pictures)
            except EngineError as error:
                tiled = self._tiles_after(error)
                if tiled is None:
                    raise
        stages, progress = self._stages, self._reporter.progress
        return [tiled.encode(picture, stages, progress) for picture in pictures]

    def _tiles_after(self, error: EngineError) -> TiledAutoencoder | None:
        """Return the autoencoder in tiles to use from now on.

        None if the error is not a lack of memory, or tiles would not help.
        """
        if error.code is ErrorCode.OUT_OF_MEMORY:
            self._tiled = self._networks.in_tiles(TILE_CELLS)
            self.ran_out_of_memory = self._tiled is not None
        return self._tiled

    def _decode_whole(self, unscaled: Latent, problem: Problem) -> Array:
        def work(session: Session) -> Array:
            return self._stages.call(session, {"latent": unscaled})["image"]

        decoder, streams = self._networks.decoder, self._streams
        return self._stages.run(Phase.DECODE, decoder, work, problem, keep=True, streams=streams)

    def _encode_whole(self, pictures: Sequence[Array]) -> list[Array]:
        def work(session: Session) -> list[Array]:
            called = (self._stages.call(session, {"image": picture}) for picture in pictures)
            return [next(iter(outputs.values())) for outputs in called]

        encoder, streams = self._networks.encoder, self._streams
        return self._stages.run(Phase.ENCODE, encoder, work, _problem_of_any, streams=streams)


def _problem_of_any(encoded: list[Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, encoded)), None)
