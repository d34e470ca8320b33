"""The autoencoder for large pictures: the core whole, the shell a tile at a time.

A tile that overlaps its neighbours by `decoder_halo` or `encoder_halo` cells gives exactly the
whole's numbers inside, but for the shell's group normalisations, which look at all of a picture.
So these are told their statistics (as in pkuliyi2015's Tiled VAE for A1111): a first pass over the
tiles measures them, each tile by itself, and a second one takes the whole's for every tile. No
seam is left to blend.
"""

import math
from dataclasses import dataclass

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

# Squares are taken of what is divided by this, so that those of float16 stay in range.
_LARGE = 64.0


@dataclass(frozen=True, slots=True)
class ShellNorm:
    """A group normalisation of the shell. Its inputs are `name`.centre and `name`.factor."""

    name: str
    channels: int


def decoder_halo(config: VaeConfig) -> int:
    """How many cells around a tile its decoded inside depends on."""
    # Each level's convolutions reach a pixel further: two a residual block, and the upsampling's.
    levels = range(1, len(config.widths))
    reach = sum((2 * (config.layers + 1) + 1) / 2**i for i in levels)
    return math.ceil(reach + 1 / config.downscale)


def encoder_halo(config: VaeConfig) -> int:
    """How many cells around a tile its encoded inside depends on."""
    levels = range(len(config.widths) - 1)
    reach = 1 + sum((2 * config.layers + 1) * 2**i for i in levels)
    return math.ceil(reach / config.downscale)


def decoder_core(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit latent float32 [batch, latent_channels, height, width] to features.

    features is float32 [batch, widths[-1], height, width].
    """
    x = VaeBlocks(g, config, "decoder").decoder_core(latent_input(g, config))
    g.output(g.to_planes(x), "features", DType.F32, _features(config))


def encoder_core(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit features, as `encoder_shell` gives them, to moments as `vae_encoder`'s."""
    shape = ("batch", _encoded_width(config), "height", "width")
    x = g.from_planes(g.cast_to_element(g.input("features", DType.F32, shape)))
    moments = VaeBlocks(g, config, "encoder").encoder_core(x)
    moments_output(g, config, moments, ("height", "width"))


def decoder_shell(g: GraphBuilder, config: VaeConfig, *, measures: bool = False) -> None:
    """Emit a tile's features float32 [batch, widths[-1], height, width] to its image.

    With `measures` each normalisation takes the tile's own statistics, and the output is
    `statistics` instead (`_MeasuringBlocks`); else they are inputs (`_ToldBlocks`).
    """
    x = g.from_planes(g.cast_to_element(g.input("features", DType.F32, _features(config))))
    blocks = _blocks(g, config, "decoder", measures=measures)
    image = blocks.decoder_shell(x)
    if isinstance(blocks, _MeasuringBlocks):
        blocks.output()
    else:
        image_output(g, config, image)


def encoder_shell(g: GraphBuilder, config: VaeConfig, *, measures: bool = False) -> None:
    """Emit a tile's image float32 [batch, 3, height, width] to its features.

    features is float32 [batch, widths[-2], height / downscale, width / downscale]. `measures` as
    in `decoder_shell`.
    """
    blocks = _blocks(g, config, "encoder", measures=measures)
    features = blocks.encoder_shell(image_input(g, config))
    if isinstance(blocks, _MeasuringBlocks):
        blocks.output()
        return
    size = (f"height/{config.downscale}", f"width/{config.downscale}")
    shape = ("batch", _encoded_width(config), *size)
    g.output(g.to_planes(features), "features", DType.F32, shape)


def shell_norms(config: VaeConfig, side: str) -> tuple[ShellNorm, ...]:
    """The shell's normalisations in the order of their statistics; `side` as in `VaeBlocks`."""
    widths, found = config.widths, list[ShellNorm]()
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


def _features(config: VaeConfig) -> tuple[int | str, ...]:
    return "batch", config.widths[-1], "height", "width"


def _encoded_width(config: VaeConfig) -> int:
    return config.widths[max(0, len(config.widths) - 2)]


def _blocks(g: GraphBuilder, config: VaeConfig, side: str, *, measures: bool) -> VaeBlocks:
    return (_MeasuringBlocks if measures else _ToldBlocks)(g, config, side)


class _ToldBlocks(VaeBlocks):
    """Normalisations whose statistics are inputs, float32, with a number for each channel.

    `centre` is the negative mean, `factor` 1 / sqrt(variance + epsilon).
    """

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        """SiLU of (x + centre) * factor * weight + bias."""
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
    """Normalisations that tell what they divide by.

    `statistics` is float32 [batch, 2 * groups * norms]: for each in turn the groups' means, then
    their variances.
    """

    def __init__(self, g: GraphBuilder, config: VaeConfig, side: str) -> None:
        super().__init__(g, config, side)
        self._measured: list[Value] = []

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        """As it is, and measured."""
        g, last = self.g, self.g.integers([-1])
        split = g.integers([0, self.config.norm_groups, -1])
        # In the element type: float32 copies of the largest images take as much again.
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
        """Declare what was measured."""
        g, groups = self.g, self.config.norm_groups
        joined = g.op("Concat", *self._measured, axis=1)
        flat = g.op("Reshape", joined, g.integers([0, -1]))
        count = len(self._measured) * groups
        g.output(flat, "statistics", DType.F32, ("batch", count))
