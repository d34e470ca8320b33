"""Pictures to latents and back, whole or in tiles."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from backends.base import Array, Session
from engine import result_checks
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, Phase
from engine.errors import EngineError
from engine.families.architecture import TiledAutoencoder
from engine.families.base import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.running import Problem
from engine.memory.plan import TILE_CELLS
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.types import Latent

T = TypeVar("T")


class Autoencoder:
    """The checkpoint's VAE for the pictures of a job.

    It is tiled where the request has a `vae_tile` and the picture is larger, or where memory runs
    out; see `engine.graphs.vae_tiles`.
    """

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        stages: Stages,
        reporter: Reporter,
    ) -> None:
        self._model, self._latent = checkpoint.architecture.autoencoder, checkpoint.latent
        self._stages, self._reporter = stages, reporter
        size, form = (request.height, request.width), checkpoint.latent
        self._cells = request.height // form.downscale, request.width // form.downscale
        # One of each for the whole job: `Stages` knows again what it has loaded.
        self._encoder = self._model.encoder(*size)
        self._decoder = self._model.decoder(*size)
        # A side of the tiles in pixels, asked for or not.
        self.tile = request.vae_tile
        # True once a picture was done in tiles because the whole did not fit.
        self.ran_out_of_memory = False
        self._tiled = self._in_tiles((request.vae_tile or 0) // form.downscale)

    def encode(self, pictures: Sequence[Array]) -> list[EncodedImage]:
        """Pictures, float32 [1, 3, height, width] in [-1, 1], as their latents' distributions."""
        self._model.require_encoder()
        stages, progress = self._stages, self._reporter.progress
        encoded = self._whole_or_tiled(
            lambda: self._encode_whole(pictures),
            lambda tiled: [tiled.encode(picture, stages, progress) for picture in pictures],
        )
        return [self._model.encoded(output) for output in encoded]

    def decode(self, latent: Latent, problem: Problem) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width], once `problem` finds none."""
        stages, progress = self._stages, self._reporter.progress
        unscaled = self._latent.latent(latent)
        return self._whole_or_tiled(
            lambda: self._decode_whole(unscaled, problem),
            lambda tiled: tiled.decode(unscaled, stages, progress, problem),
        )

    def encoding(self, count: int) -> tuple[Run, ...]:
        """What encoding so many pictures goes through."""
        parts = self._tiled.encoding if self._tiled else (self._encoder,)
        return tuple(Run(Phase.ENCODE, part, times=count, size=self._area) for part in parts)

    def decoding(self) -> tuple[Run, ...]:
        """What decoding each picture goes through."""
        parts = self._tiled.decoding if self._tiled else (self._decoder,)
        return tuple(Run(Phase.DECODE, part, each=True, size=self._area) for part in parts)

    @property
    def _area(self) -> int:
        return self._cells[0] * self._cells[1]

    def _in_tiles(self, longest: int) -> TiledAutoencoder | None:
        """The VAE in tiles of so many cells; None where it has none, or is no larger."""
        if not longest or max(self._cells) <= longest:
            return None
        return self._model.tiled(self._cells, longest)

    def _whole_or_tiled(
        self, whole: Callable[[], T], in_tiles: Callable[[TiledAutoencoder], T]
    ) -> T:
        """As it was asked for; in tiles where memory runs out, and from then on."""
        if self._tiled is not None:
            return in_tiles(self._tiled)
        try:
            return whole()
        except EngineError as error:
            if error.code is ErrorCode.OUT_OF_MEMORY:
                self._tiled = self._in_tiles(TILE_CELLS)
            if self._tiled is None:
                raise
        self.tile = TILE_CELLS * self._latent.downscale
        self.ran_out_of_memory = True
        return in_tiles(self._tiled)

    def _decode_whole(self, unscaled: Latent, problem: Problem) -> Array:
        def work(session: Session) -> Array:
            return self._stages.call(session, {"latent": unscaled})["image"]

        return self._stages.run(Phase.DECODE, self._decoder, work, problem, keep=True)

    def _encode_whole(self, pictures: Sequence[Array]) -> list[Array]:
        def work(session: Session) -> list[Array]:
            called = (self._stages.call(session, {"image": picture}) for picture in pictures)
            return [next(iter(outputs.values())) for outputs in called]

        return self._stages.run(Phase.ENCODE, self._encoder, work, _problem_of_any)


def _problem_of_any(encoded: list[Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, encoded)), None)
