"""The autoencoder for large pictures: the core on the whole latent, the shell tile by tile.

Inside a tile that overlaps its neighbours by `decoder_halo` or `encoder_halo` cells, the numbers
equal those of the whole picture, except that the shell's group normalisations need statistics of
the whole picture. These are given as inputs (as in pkuliyi2015's Tiled VAE for A1111): a first pass
measures the statistics of each tile, and a second pass uses those of the whole picture for every
tile. So there are no seams to blend.
"""

import math

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.vae import (
    VaeBlocks,
    VaeConfig,
    image_input,
    image_output,
    latent_input,
    moments_output,
)

# Values are divided by this before they are squared, so that float16 does not overflow.
_LARGE = 64.0


class ShellNorm(msgspec.Struct, frozen=True):
    """A group normalisation of the shell. Its inputs are `name`.centre and `name`.factor."""

    name: str
    channels: int


def decoder_halo(config: VaeConfig) -> int:
    """Return how many cells of the core around a tile influence its decoded pixels."""
    # Each 3x3 convolution of a level reaches one pixel further: two per residual block, and one for
    # upsampling.
    levels = range(1, len(config.widths))
    reach = sum((2 * (config.layers + 1) + 1) / 2**i for i in levels)
    return math.ceil(reach + 1 / config.core_downscale)


def encoder_halo(config: VaeConfig) -> int:
    """Return how many cells of the core around a tile influence its encoded cells."""
    levels = range(len(config.widths) - 1)
    reach = 1 + sum((2 * config.layers + 1) * 2**i for i in levels)
    return math.ceil(reach / config.core_downscale)


def decoder_core(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the decoder's core: latent float32 [batch, latent_channels, height, width] to features.

    features is float32 [batch, width, height * patch, width * patch], of the decoder's last width.
    """
    x = VaeBlocks(g, config, "decoder").decoder_core(latent_input(g, config))
    sides = ("height", "width") if config.patch == 1 else _sides(f"{config.patch}*", "")
    g.output(g.to_planes(x), "features", DType.F32, ("batch", _decoded_width(config), *sides))


def encoder_core(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the encoder's core: features from `encoder_shell` to moments as in `vae_encoder`."""
    shape = ("batch", _encoded_width(config), "height", "width")
    x = g.from_planes(g.cast_to_element(g.input("features", DType.F32, shape)))
    moments = VaeBlocks(g, config, "encoder").encoder_core(x)
    sides = ("height", "width") if config.patch == 1 else _sides("", f"/{config.patch}")
    moments_output(g, config, moments, sides)


def decoder_shell(g: GraphBuilder, config: VaeConfig, *, measures: bool = False) -> None:
    """Emit the decoder's shell: a tile's features to the tile's image.

    features is float32 [batch, channels, height, width], as the core outputs them. With `measures`
    each normalisation uses the tile's own statistics, and the output is `statistics` instead of the
    image (`_MeasuringBlocks`); else the statistics are inputs (`_GivenStatistics`).
    """
    x = g.from_planes(g.cast_to_element(g.input("features", DType.F32, _features(config))))
    blocks = _blocks(g, config, "decoder", measures=measures)
    image = blocks.decoder_shell(x)
    if isinstance(blocks, _MeasuringBlocks):
        blocks.output()
    else:
        image_output(g, config, image, config.core_downscale)


def encoder_shell(g: GraphBuilder, config: VaeConfig, *, measures: bool = False) -> None:
    """Emit the encoder's shell: a tile's image float32 [batch, 3, height, width] to features.

    features is float32 [batch, widths[-2], height / core_downscale, width / core_downscale].
    `measures` is explained in `decoder_shell`.
    """
    blocks = _blocks(g, config, "encoder", measures=measures)
    features = blocks.encoder_shell(image_input(g, config))
    if isinstance(blocks, _MeasuringBlocks):
        blocks.output()
        return
    shape = ("batch", _encoded_width(config), *_sides("", f"/{config.core_downscale}"))
    g.output(g.to_planes(features), "features", DType.F32, shape)


def shell_norms(config: VaeConfig, side: str) -> tuple[ShellNorm, ...]:
    """List the shell's normalisations in the order of their statistics; `side`: `VaeBlocks`."""
    widths, found = config.widths_of(side), list[ShellNorm]()
    if side == "decoder":
        levels = [
            (f"decoder.up_blocks.{i}", before, width, config.layers + 1)
            for i, (before, width) in enumerate(zip(widths[:0:-1], widths[-2::-1], strict=True), 1)
        ]
    else:
        before = (widths[0], *widths[:-2])
        levels = [
            (f"encoder.down_blocks.{i}", last, width, config.layers)
            for i, (last, width) in enumerate(zip(before, widths[:-1], strict=True))
        ]
    for name, before_, width, count in levels:
        for j in range(count):
            channels = width if j else before_
            found.append(ShellNorm(f"{name}.resnets.{j}.norm1", channels))
            found.append(ShellNorm(f"{name}.resnets.{j}.norm2", width))
    if side == "decoder":
        found.append(ShellNorm("decoder.conv_norm_out", widths[0]))
    return tuple(found)


def _sides(before: str, after: str) -> tuple[str, str]:
    return f"{before}height{after}", f"{before}width{after}"


def _features(config: VaeConfig) -> tuple[int | str, ...]:
    return "batch", _decoded_width(config), "height", "width"


def _decoded_width(config: VaeConfig) -> int:
    return config.widths_of("decoder")[-1]


def _encoded_width(config: VaeConfig) -> int:
    return config.widths[max(0, len(config.widths) - 2)]


def _blocks(g: GraphBuilder, config: VaeConfig, side: str, *, measures: bool) -> VaeBlocks:
    return (_MeasuringBlocks if measures else _GivenStatistics)(g, config, side)


class _GivenStatistics(VaeBlocks):
    """Blocks whose normalisations take statistics as inputs: float32, one number per channel.

    `centre` is the negative mean, `factor` 1 / sqrt(variance + epsilon).
    """

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        """Emit SiLU of (x + centre) * factor * weight + bias."""
        g = self.g
        shape = (1, width, 1, 1) if g.planes else (1, 1, 1, width)
        per_channel = g.integers(shape)
        centre, factor = (
            g.cast_to_element(g.input(f"{name}.{what}", DType.F32, shape))
            for what in ("centre", "factor")
        )
        weight, bias = (
            g.op("Reshape", g.weight(f"{name}.{what}", (width,)), per_channel)
            for what in ("weight", "bias")
        )
        x = g.op("Mul", g.op("Add", x, centre), g.op("Mul", factor, weight))
        return g.silu(g.op("Add", x, bias))


class _MeasuringBlocks(VaeBlocks):
    """Blocks that output the statistics their normalisations use.

    `statistics` is float32 [batch, 2 * groups * norms]: for each norm in turn the means of its
    groups, then their variances.
    """

    def __init__(self, g: GraphBuilder, config: VaeConfig, side: str) -> None:
        super().__init__(g, config, side)
        self._measured: list[Value] = []

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        """Emit the normalisation and SiLU, and record the mean and the variance for `output`."""
        g, last = self.g, self.g.integers([-1])
        split = g.integers([0, self.config.norm_groups, -1])
        # In the element type: float32 copies of the largest images would take as much memory again.
        grouped = g.op("Reshape", g.to_planes(x), split)
        mean = g.op("ReduceMean", grouped, last, keepdims=1)
        apart = g.op("Add", grouped, g.op("Mul", mean, g.constant(-1.0)))
        small = g.op("Mul", apart, g.constant(1 / _LARGE))
        variance = g.op("ReduceMean", g.op("Mul", small, small), last, keepdims=1)
        mean, variance = self._as_float32(mean), self._as_float32(variance)
        self._measured += [mean, g.op("Mul", variance, g.constant(_LARGE**2, DType.F32))]
        return super().norm_silu(x, name, width)

    def _as_float32(self, x: Value) -> Value:
        return x if self.g.element is DType.F32 else self.g.cast(x, DType.F32)

    def output(self) -> None:
        """Declare the recorded statistics as the output."""
        g, groups = self.g, self.config.norm_groups
        joined = g.op("Concat", *self._measured, axis=1)
        flat = g.op("Reshape", joined, g.integers([0, -1]))
        count = len(self._measured) * groups
        g.output(flat, "statistics", DType.F32, ("batch", count))
