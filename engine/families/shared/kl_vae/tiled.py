"""Running a VAE in tiles: the core on the whole latent, the shell in two passes over the tiles.

The first pass measures the statistics of normalisations, the second computes the result; see
`engine.graphs.vae_tiles`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

import msgspec
import numpy as np

from backends.base import Array, Session, TensorSpec
from engine import result_checks
from engine.api.values import Phase
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.running import NetworkRunner, Problem, Progress
from engine.families.shared.component_network import Dimensions
from engine.families.shared.kl_vae.tiles import Tile, Tiling, shared_norms, tiling
from engine.graphs import vae_tiles
from engine.graphs.operators import GraphBuilder
from engine.graphs.vae import VaeConfig

Cells = tuple[int, int]


class MakeNetwork(Protocol):
    """A function that makes a network with the VAE's weights."""

    def __call__(
        self, name: str, emit: Callable[[GraphBuilder], None], dimensions: Dimensions, /
    ) -> Network:
        """Return the network that `emit` writes, with this name and these dimensions."""
        ...


class _Shell(msgspec.Struct, frozen=True):
    """The shell of the encoder or decoder: networks, tiles, and sizes of input and output.

    `scale` and `out_scale` are the array elements along the side of a cell, in the input and in the
    output. The tiles cover the picture and, beyond the edges that wrap around, `around` rows and
    columns of cells of the opposite edges.
    """

    phase: Phase
    side: str
    measuring: Network
    computing: Network
    tiling: Tiling
    scale: int
    out_scale: int
    out_channels: int
    around: Cells = (0, 0)

    def extended(self, whole: Array) -> Array:
        """Return a picture [1, channels, height, width] continued beyond the edges that wrap."""
        if self.around == (0, 0):
            return whole
        sides = [(cells * self.scale,) * 2 for cells in self.around]
        return np.pad(whole, [(0, 0), (0, 0), *sides], mode="wrap")

    def cut(self, out: Array) -> Array:
        """Return the result without what was continued."""
        top, left = (cells * self.out_scale for cells in self.around)
        return np.ascontiguousarray(out[..., top : out.shape[2] - top, left : out.shape[3] - left])


class TiledVae:
    """A `TiledAutoencoder`: the core runs on the whole latent, the shell in two passes over tiles.

    The first pass measures the statistics of normalisations, the second computes the result.
    `wraps`: the axes along which the picture continues at its opposite edge. There the encoder's
    last column or row differs from that of the whole picture, which A1111 halves beside zeros.
    """

    def __init__(
        self,
        config: VaeConfig,
        make_network: MakeNetwork,
        cells: Cells,
        longest: int,
        wraps: tuple[bool, bool] = (False, False),
    ) -> None:
        # The shell's cells are those of the core.
        core = cells[0] * config.patch, cells[1] * config.patch
        longest *= config.patch
        self._config, self._make_network, self._cells = config, make_network, core
        self._wraps = wraps
        # Measuring needs no overlap between tiles, and takes two to three times the memory per
        # cell, so the measured tiles are smaller.
        self._measured = tiling(core, longest // 2, 0)
        self._decoder_core = self._part("vae_decoder_core", vae_tiles.decoder_core, cells, 1)
        self._encoder_core = self._part("vae_encoder_core", vae_tiles.encoder_core, core, 1)
        self._decoder_shell = self._decoders(longest)
        self._encoder_shell = self._encoders(longest)

    def _decoders(self, longest: int) -> _Shell:
        shell, config = vae_tiles.decoder_shell, self._config
        tiles, around = self._tiles(longest, vae_tiles.decoder_halo(config))
        measuring = partial(shell, measures=True)
        return _Shell(
            phase=Phase.DECODE,
            side="decoder",
            measuring=self._part("vae_decoder_norms", measuring, self._measured.size, 1),
            computing=self._part("vae_decoder_shell", shell, tiles.size, 1),
            tiling=tiles,
            scale=1,
            out_scale=config.core_downscale,
            out_channels=config.image_channels,
            around=around,
        )

    def _encoders(self, longest: int) -> _Shell:
        shell, config = vae_tiles.encoder_shell, self._config
        tiles, around = self._tiles(longest, vae_tiles.encoder_halo(config))
        pixels = config.core_downscale
        measuring = partial(shell, measures=True)
        return _Shell(
            phase=Phase.ENCODE,
            side="encoder",
            measuring=self._part("vae_encoder_norms", measuring, self._measured.size, pixels),
            computing=self._part("vae_encoder_shell", shell, tiles.size, pixels),
            tiling=tiles,
            scale=pixels,
            out_scale=1,
            out_channels=config.widths[-2],
            around=around,
        )

    def _tiles(self, longest: int, halo: int) -> tuple[Tiling, Cells]:
        """Return the tiles, and the cells that continue the picture beyond edges that wrap."""
        height, width = (halo * wraps for wraps in self._wraps)
        cells = self._cells[0] + 2 * height, self._cells[1] + 2 * width
        return tiling(cells, longest, halo), (height, width)

    def _part(
        self,
        name: str,
        emit: Callable[[GraphBuilder, VaeConfig], None],
        size: Cells,
        pixels: int,
    ) -> Network:
        """Return a network for `size` cells; its input has `pixels` elements per cell side."""
        config, (height, width) = self._config, (side * pixels for side in size)
        dimensions = {
            "batch": offered(1, 1, 1),
            "height": offered(1, height, height),
            "width": offered(1, width, width),
        }
        return self._make_network(name, lambda g: emit(g, config), dimensions)

    @property
    def decoding(self) -> tuple[Network, ...]:
        """The networks that decoding runs, in order."""
        return self._decoder_core, self._decoder_shell.measuring, self._decoder_shell.computing

    @property
    def encoding(self) -> tuple[Network, ...]:
        """The networks that encoding runs, in order."""
        return self._encoder_shell.measuring, self._encoder_shell.computing, self._encoder_core

    def decode(
        self, latent: Array, runner: NetworkRunner, progress: Progress, problem: Problem
    ) -> Array:
        """Decode an unscaled latent to pixels; `problem` checks the result."""
        run = _TiledRun(self._config, self._cells, self._measured, runner, progress)
        features = run.whole(Phase.DECODE, self._decoder_core, {"latent": latent})
        return run.through(self._decoder_shell, features, problem)

    def encode(self, image: Array, runner: NetworkRunner, progress: Progress) -> Array:
        """Encode pixels to the unscaled latent's moments."""
        run = _TiledRun(self._config, self._cells, self._measured, runner, progress)
        features = run.through(self._encoder_shell, image, result_checks.numbers)
        return run.whole(Phase.ENCODE, self._encoder_core, {"features": features})


class _TiledRun(msgspec.Struct, frozen=True):
    """One run of core and shell over a picture."""

    config: VaeConfig
    cells: Cells
    measured: Tiling
    runner: NetworkRunner
    progress: Progress

    def whole(self, phase: Phase, network: Network, feeds: dict[str, Array]) -> Array:
        """Return the output of a core for `feeds`."""

        def work(session: Session) -> Array:
            return self._result(session, feeds)

        return self.runner.run(phase, network, work, result_checks.numbers)

    def through(self, shell: _Shell, whole: Array, problem: Problem) -> Array:
        """Return the output of a shell for `whole`, [1, channels, height, width]."""
        norms = self._norms(shell, whole)
        size = tuple(
            (side + 2 * around) * shell.out_scale
            for side, around in zip(self.cells, shell.around, strict=True)
        )

        def work(session: Session) -> Array:
            first, *others = session.inputs
            for name, values in norms.items():
                session.pin(name, values.reshape(_shape(others, name)))
            out = np.empty((1, shell.out_channels, *size), np.float32)
            extended = shell.extended(whole)
            for tile in self._each(shell.tiling):
                feeds = {first.name: tile.crop(extended, shell.scale)}
                tile.keep(self._result(session, feeds), out, shell.out_scale)
            return shell.cut(out)

        return self.runner.run(shell.phase, shell.computing, work, problem)

    def _norms(self, shell: _Shell, whole: Array) -> dict[str, Array]:
        """Measure the whole picture's statistics: the inputs of the shell's norms, by name."""

        def work(session: Session) -> Array:
            name = session.inputs[0].name
            return np.concatenate(
                [
                    self._result(session, {name: tile.crop(whole, shell.scale)})
                    for tile in self._each(self.measured)
                ]
            )

        measured = self.runner.run(shell.phase, shell.measuring, work, result_checks.numbers)
        norms = vae_tiles.shell_norms(self.config, shell.side)
        return dict(shared_norms(norms, self.config.norm_groups, measured))

    def _each(self, tiles: Tiling) -> Iterator[Tile]:
        """Yield each tile and report the progress."""
        total = len(tiles.tiles)
        for done, tile in enumerate(tiles.tiles):
            self.progress(done, total)
            yield tile
        self.progress(total, total)

    def _result(self, session: Session, feeds: dict[str, Array]) -> Array:
        return next(iter(self.runner.call(session, feeds).values()))


def _shape(inputs: Sequence[TensorSpec], name: str) -> tuple[int, ...]:
    """Return the shape of the input `name`, whose dimensions are all fixed."""
    spec = next(spec for spec in inputs if spec.name == name)
    return tuple(side for side in spec.shape if isinstance(side, int))
