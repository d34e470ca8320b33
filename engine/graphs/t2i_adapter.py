"""T2I-Adapters (Mou et al. 2023), as diffusers' T2IAdapter names them.

An adapter makes an image for each level of a UNet from a map alone, once per picture:
`t2i_adapter`. At each step they are only weighted and added: `adapter_residuals`.
"""

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import ResidualWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import ADAPTER
from engine.graphs.upscalers.layers import Layers

_COLOURS = 3
# The name of an image among the inputs of `adapter_residuals`, before its level.
IMAGE = "image"


class AdapterBlock(msgspec.Struct, frozen=True):
    """One level: `layers` residual blocks of `inner` channels, and `width` channels after them.

    `halves`: it halves its image first, by means, or with `strided` by a convolution.
    """

    width: int
    inner: int
    layers: int
    halves: bool
    strided: bool = False


class AdapterConfig(msgspec.Struct, frozen=True):
    """Sizes of an adapter.

    A map's cells of `unshuffle` pixels become channels first. `light`: a level narrows its image
    before its residual blocks and widens it after them. `kernel` is that of a residual block's
    second convolution, which a full adapter's other convolutions between widths have, too.
    """

    blocks: tuple[AdapterBlock, ...]
    map_channels: int = 3
    unshuffle: int = 8
    kernel: int = 1
    light: bool = False

    @property
    def halvings(self) -> tuple[int, ...]:
        """The number of times that each level's image was halved."""
        return tuple(
            sum(block.halves for block in self.blocks[: level + 1])
            for level in range(len(self.blocks))
        )


def t2i_adapter(g: GraphBuilder, config: AdapterConfig) -> None:
    """Emit an adapter.

    Input: map float32 [1, 3, map_height, map_width] in [0, 1], whose sides are multiples of
    `unshuffle`; an adapter for maps of one channel takes the mean of the three. Outputs: adapter.0
    and so on, one for each level, float32 [1, width, map_height / n, map_width / n], where n is
    `unshuffle` doubled at each halving.
    """
    on = Layers(g)
    x = g.cast_to_element(g.input("map", DType.F32, (1, _COLOURS, "map_height", "map_width")))
    if config.map_channels == 1:
        x = g.op("ReduceMean", x, g.integers([1]), keepdims=1)
    x = g.from_planes(on.unshuffled(x, config.map_channels, config.unshuffle))
    width = config.map_channels * config.unshuffle**2
    if not config.light:
        x = g.conv(x, "adapter.conv_in", (width, config.blocks[0].width))
        width = config.blocks[0].width
    for level, (block, halvings) in enumerate(zip(config.blocks, config.halvings, strict=True)):
        x = _block(g, config, block, x, f"adapter.body.{level}", width)
        width = block.width
        part = config.unshuffle << halvings
        size = (f"map_height/{part}", f"map_width/{part}")
        g.output(g.to_planes(x), f"adapter.{level}", DType.F32, (1, width, *size))


def adapter_residuals(g: GraphBuilder, config: AdapterConfig) -> None:
    """Emit what an adapter does at a step, without weights.

    Inputs: image.0 and so on float32 [1, width, height / 2^n, width / 2^n], the outputs of
    `t2i_adapter`, or a tile's part of them, and those of `ResidualWriter`; outputs adapter.0 and so
    on. Height and width are those of the first level.
    """
    residuals = ResidualWriter(g, ADAPTER, config.halvings)
    for level, block in enumerate(config.blocks):
        shape = (1, block.width, *residuals.sides(level))
        image = g.input(f"{IMAGE}.{level}", DType.F32, shape)
        residuals.write(image, level, block.width, DType.F32)


def _block(
    g: GraphBuilder, config: AdapterConfig, block: AdapterBlock, x: Value, name: str, width: int
) -> Value:
    inner, kernel = block.inner, 1 if config.light else config.kernel
    if block.halves:
        x = _halved(g, block, x, name, width)
    if config.light or width != inner:
        x = g.conv(x, f"{name}.in_conv", (width, inner), kernel=kernel)
    for layer in range(block.layers):
        h = g.conv(x, f"{name}.resnets.{layer}.block1", (inner, inner))
        h = g.op("Relu", h)
        h = g.conv(h, f"{name}.resnets.{layer}.block2", (inner, inner), kernel=config.kernel)
        x = g.add(h, x)
    return g.conv(x, f"{name}.out_conv", (inner, block.width), kernel=1) if config.light else x


def _halved(g: GraphBuilder, block: AdapterBlock, x: Value, name: str, width: int) -> Value:
    """Return an image of half the size; the last of an odd number of rows stays by itself."""
    if block.strided:
        return g.conv(x, f"{name}.down_opt.op", (width, width), stride=2)
    planes = g.to_planes(x)
    return g.from_planes(
        g.op("AveragePool", planes, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    )
