"""Pictures to latents and back, whole or in tiles."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from backends.base import Array, Session, TensorSpec
from engine import result_checks
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, Phase
from engine.compile.compiler import Network
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.graphs import vae_tiles
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig
from engine.memory.plan import TILE_CELLS
from engine.pipeline import networks
from engine.pipeline.denoise.denoising import EncodedImage
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Reporter, Stages
from engine.pipeline.vae.tiles import Tile, Tiling, shared_norms, tiling
from engine.sampling.types import Latent

T = TypeVar("T")
Problem = Callable[[Array], str | None]


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
        self._checkpoint, self._stages, self._reporter = checkpoint, stages, reporter
        size, form = (request.height, request.width), checkpoint.latent
        self._cells = request.height // form.downscale, request.width // form.downscale
        # One of each for the whole job: `Stages` knows again what it has loaded.
        self._encoder = networks.encoder(checkpoint, *size)
        self._decoder = networks.decoder(checkpoint, *size)
        # A side of the tiles in pixels, asked for or not.
        self.tile = request.vae_tile
        self._tiled = self._in_tiles((request.vae_tile or 0) // form.downscale)

    def encode(self, pictures: Sequence[Array]) -> list[EncodedImage]:
        """Pictures, float32 [1, 3, height, width] in [-1, 1], as their latents' distributions."""
        self._require_encoder()
        encoded = self._whole_or_tiled(
            lambda: self._encode_whole(pictures),
            lambda tiled: [tiled.encode(picture) for picture in pictures],
        )
        form = self._checkpoint.latent
        if isinstance(self._checkpoint.components[Component.VAE].config, TinyVaeConfig):
            return [EncodedImage.exactly(latent, form) for latent in encoded]
        return [EncodedImage.from_moments(moments, form) for moments in encoded]

    def decode(self, latent: Latent, problem: Problem) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width], once `problem` finds none."""
        unscaled = self._checkpoint.latent.latent(latent)
        return self._whole_or_tiled(
            lambda: self._decode_whole(unscaled, problem),
            lambda tiled: tiled.decode(unscaled, problem),
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

    def _in_tiles(self, longest: int) -> "_TiledVae | None":
        """The VAE in tiles of so many cells; None where it has none, or is no larger."""
        config = self._checkpoint.components[Component.VAE].config
        if not longest or max(self._cells) <= longest or not isinstance(config, VaeConfig):
            return None
        given = self._stages, self._reporter, self._cells, longest
        return _TiledVae(self._checkpoint, config, *given)

    def _whole_or_tiled(self, whole: Callable[[], T], in_tiles: Callable[["_TiledVae"], T]) -> T:
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
        self.tile = TILE_CELLS * self._checkpoint.latent.downscale
        return in_tiles(self._tiled)

    def _require_encoder(self) -> None:
        config = self._checkpoint.components[Component.VAE].config
        if isinstance(config, TinyVaeConfig) and config.encoder_blocks is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_INCOMPLETE,
                "The tiny VAE has a decoder only, and a picture is to be encoded.",
                "Put its encoder beside it, as taesd_encoder beside taesd_decoder.",
            )

    def _decode_whole(self, unscaled: Latent, problem: Problem) -> Array:
        def work(session: Session) -> Array:
            return self._stages.call(session, {"latent": unscaled})["image"]

        return self._stages.run(Phase.DECODE, self._decoder, work, problem, keep=True)

    def _encode_whole(self, pictures: Sequence[Array]) -> list[Array]:
        def work(session: Session) -> list[Array]:
            called = (self._stages.call(session, {"image": picture}) for picture in pictures)
            return [next(iter(outputs.values())) for outputs in called]

        return self._stages.run(Phase.ENCODE, self._encoder, work, _problem_of_any)


@dataclass(frozen=True, slots=True)
class _Shell:
    """One side's shell: its two networks, its tiles, and what goes in and comes out of it."""

    phase: Phase
    side: str
    measuring: Network
    computing: Network
    tiling: Tiling
    # Numbers along a cell of what goes in and of what comes out, and the channels of the latter.
    scale: int
    out_scale: int
    out_channels: int


class _TiledVae:
    """The core whole; the shell twice over the tiles, to measure and to compute."""

    def __init__(
        self,
        checkpoint: IdentifiedCheckpoint,
        config: VaeConfig,
        stages: Stages,
        reporter: Reporter,
        cells: tuple[int, int],
        longest: int,
    ) -> None:
        self._config, self._stages, self._reporter, self._cells = config, stages, reporter, cells
        # Tiles that are only measured need not see what is around them, and take two to three
        # times as much memory for each cell: smaller ones serve as well.
        self._measured = tiling(cells, longest // 2, 0)
        part = partial(networks.vae_part, checkpoint)
        self._decoder_core = part("vae_decoder_core", vae_tiles.decoder_core, cells, 1)
        self._encoder_core = part("vae_encoder_core", vae_tiles.encoder_core, cells, 1)
        pixels, features = config.downscale, config.widths[-2]
        shell, halo = vae_tiles.decoder_shell, vae_tiles.decoder_halo(config)
        tiles = tiling(cells, longest, halo)
        self._decoder_shell = _Shell(
            Phase.DECODE,
            "decoder",
            part("vae_decoder_norms", partial(shell, measures=True), self._measured.size, 1),
            part("vae_decoder_shell", shell, tiles.size, 1),
            *(tiles, 1, pixels, config.image_channels),
        )
        shell, halo = vae_tiles.encoder_shell, vae_tiles.encoder_halo(config)
        tiles = tiling(cells, longest, halo)
        self._encoder_shell = _Shell(
            Phase.ENCODE,
            "encoder",
            part("vae_encoder_norms", partial(shell, measures=True), self._measured.size, pixels),
            part("vae_encoder_shell", shell, tiles.size, pixels),
            *(tiles, pixels, 1, features),
        )

    @property
    def decoding(self) -> tuple[Network, ...]:
        """What decoding goes through."""
        return self._decoder_core, self._decoder_shell.measuring, self._decoder_shell.computing

    @property
    def encoding(self) -> tuple[Network, ...]:
        """What encoding goes through."""
        return self._encoder_shell.measuring, self._encoder_shell.computing, self._encoder_core

    def decode(self, latent: Array, problem: Problem) -> Array:
        """An unscaled latent as pixels."""
        features = self._whole(Phase.DECODE, self._decoder_core, {"latent": latent})
        return self._through(self._decoder_shell, features, problem)

    def encode(self, image: Array) -> Array:
        """Pixels as an unscaled latent's moments."""
        features = self._through(self._encoder_shell, image, result_checks.numbers)
        return self._whole(Phase.ENCODE, self._encoder_core, {"features": features})

    def _whole(self, phase: Phase, network: Network, feeds: dict[str, Array]) -> Array:
        def work(session: Session) -> Array:
            return self._result(session, feeds)

        return self._stages.run(phase, network, work, result_checks.numbers)

    def _through(self, shell: _Shell, whole: Array, problem: Problem) -> Array:
        """`whole`, [1, channels, height, width], through a shell."""
        norms = self._norms(shell, whole)
        size = tuple(side * shell.out_scale for side in self._cells)

        def work(session: Session) -> Array:
            first, *told = session.inputs
            for name, values in norms.items():
                session.pin(name, values.reshape(_shape(told, name)))
            out = np.empty((1, shell.out_channels, *size), np.float32)
            for tile in self._told(shell.tiling):
                seen = {first.name: tile.seen(whole, shell.scale)}
                tile.keep(self._result(session, seen), out, shell.out_scale)
            return out

        return self._stages.run(shell.phase, shell.computing, work, problem)

    def _norms(self, shell: _Shell, whole: Array) -> dict[str, Array]:
        """What the shell's normalisations are told, by input."""

        def work(session: Session) -> Array:
            name = session.inputs[0].name
            return np.concatenate(
                [
                    self._result(session, {name: tile.seen(whole, shell.scale)})
                    for tile in self._told(self._measured)
                ]
            )

        measured = self._stages.run(shell.phase, shell.measuring, work, result_checks.numbers)
        norms = vae_tiles.shell_norms(self._config, shell.side)
        return dict(shared_norms(norms, self._config.norm_groups, measured))

    def _told(self, tiles: Tiling) -> Iterator[Tile]:
        """Each tile, with progress."""
        total = len(tiles.tiles)
        for done, tile in enumerate(tiles.tiles):
            self._reporter.progress(done, total)
            yield tile
        self._reporter.progress(total, total)

    def _result(self, session: Session, feeds: dict[str, Array]) -> Array:
        return next(iter(self._stages.call(session, feeds).values()))


def _problem_of_any(encoded: list[Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, encoded)), None)


def _shape(inputs: Sequence[TensorSpec], name: str) -> tuple[int, ...]:
    """The shape of an input whose dimensions are all known."""
    spec = next(spec for spec in inputs if spec.name == name)
    return tuple(side for side in spec.shape if isinstance(side, int))
