"""ControlNets (Zhang et al. 2023), by diffusers' names: ControlNetModel, ControlNetUnionModel.

A ControlNet is a copy of a UNet's way down and middle. Its first image is the sample's plus the
embedding of a map (edges, depth, a pose ...), and each image that the UNet would keep as a skip
connection leaves it through a convolution of its own, as a residual. `map_embedding` runs once per
picture and `control_net` at each step. Residuals leave it as the denoiser takes them: weighted,
masked, and with those of other networks added.

A union (xinsir's ControlNet++) serves several kinds of maps, also several maps at once: a small
network adds a number to each channel of a map's embedding, from its mean and its kind. That is a
transformer whose tokens were the maps and the sample; but in the author's code and in diffusers it
attends along the batch, whose rows are equal, so that each map is left to itself. ComfyUI and
sd-webui-controlnet attend along the tokens; what was trained and published is followed here.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import ResidualWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import CONTROL, size_embedding
from engine.graphs.unet_encoder import (
    EncoderConfig,
    UNetEncoder,
    embedding,
    encoder_inputs,
    halvings,
)


class UnionConfig(msgspec.Struct, frozen=True):
    """Sizes of what a union has beside a ControlNet: its kinds of maps, and its transformer.

    `waves` is the width of the sinusoids for each kind.
    """

    kinds: int
    waves: int
    layers: int


class ControlNetConfig(msgspec.Struct, frozen=True):
    """Sizes of a ControlNet.

    `map_widths` are the channels of the map's embedding, from the first convolution on; each but
    the first halves the map's height and width. `pools`: each output is the mean over the picture,
    as in the ControlNet for shuffled pictures.
    """

    encoder: EncoderConfig
    map_channels: int = 3
    map_widths: tuple[int, ...] = (16, 32, 96, 256)
    pools: bool = False
    union: UnionConfig | None = None

    @property
    def downscale(self) -> int:
        """The number of pixels of the map along a side of a cell."""
        return 1 << (len(self.map_widths) - 1)

    @property
    def widths(self) -> tuple[int, ...]:
        """The channels of each output, in their order."""
        encoder = self.encoder
        skips = [encoder.down[0].width]
        for block in encoder.down:
            skips += [block.width] * (len(block.depths) + block.resample)
        return (*skips, encoder.mid.width if encoder.mid else encoder.down[-1].width)

    @property
    def halvings(self) -> tuple[int, ...]:
        """The number of times that height and width are halved in each output."""
        found = halvings(self.encoder)
        return (*found, found[-1])


def map_embedding(g: GraphBuilder, config: ControlNetConfig) -> None:
    """Emit the embedding of a map, once per picture.

    Input: map float32 [maps, map_channels, map_height, map_width] in [0, 1], each side `downscale`
    times the latent's. Output: map_embedding float32 [maps, width of the first level, height,
    width], in cells of the latent.

    A union makes one embedding of all maps, [1, ...]. It has two inputs more: kinds float32 [maps,
    kinds], 1 at the kind of each map and else 0; map_weights float32 [maps].
    """
    shape = ("maps", config.map_channels, "map_height", "map_width")
    x = g.cast_to_element(g.input("map", DType.F32, shape))
    name, widths = "controlnet_cond_embedding", config.map_widths
    x = g.conv(g.from_planes(x), f"{name}.conv_in", (config.map_channels, widths[0]))
    for i, (inner, outer) in enumerate(pairwise(widths)):
        x = g.conv(g.silu(x), f"{name}.blocks.{2 * i}", (inner, inner))
        x = g.conv(g.silu(x), f"{name}.blocks.{2 * i + 1}", (inner, outer), stride=2)
    outer = config.encoder.down[0].width
    x = g.conv(g.silu(x), f"{name}.conv_out", (widths[-1], outer))
    if config.union:
        x = _fused(g, config.union, x, outer)
    size = (f"map_height/{config.downscale}", f"map_width/{config.downscale}")
    count = 1 if config.union else "maps"
    g.output(g.to_planes(x), "map_embedding", DType.F32, (count, outer, *size))


def control_net(g: GraphBuilder, config: ControlNetConfig) -> None:
    """Emit one evaluation of a ControlNet.

    Inputs: those of `encoder_inputs`, and map_embedding as the function of that name makes it, of
    one map, which all pictures of the batch share. A union has an input kinds_embedding float32 [1,
    kinds * waves]: the sinusoids of 1 for each kind that one of its maps has, and of 0 for others.
    The other inputs are those of `ResidualWriter`.

    Outputs: control.0 to control.N float32 [rows, channels, height / 2^n, width / 2^n], one for
    each skip connection of the UNet in the order of the way down, then the middle's: diffusers'
    `down_block_res_samples` and `mid_block_res_sample`, as `ResidualWriter` gives them out.
    """
    inputs = encoder_inputs(g, config.encoder)
    width = config.encoder.down[0].width
    embedded = g.input("map_embedding", DType.F32, (1, width, "height", "width"))
    embedded = g.from_planes(g.cast_to_element(embedded))
    if config.union:
        waves = config.union.kinds * config.union.waves
        told = g.cast_to_element(g.input("kinds_embedding", DType.F32, (1, waves)))
        kinds = embedding(g, config.encoder, told, "control_add_embedding", waves)
        inputs = msgspec.structs.replace(inputs, embedding=g.op("Add", inputs.embedding, kinds))
    network = UNetEncoder(g, config.encoder, inputs)
    x = network.begin(g.from_planes(g.cast_to_element(inputs.sample)))
    x = network.down(g.op("Add", x, embedded))
    x = network.all_per_context(network.middle(x)[0])
    _outputs(g, config, [*(skip for skip, _ in network.skips), x])


def map_inputs(
    union: UnionConfig, kinds: Sequence[int], weights: Sequence[float]
) -> dict[str, Array]:
    """Return the inputs by which `map_embedding` is told the kind of each map, from 0.

    With several maps `weights` act here, as in diffusers; the weight of a single map is that of the
    outputs.
    """
    acting = weights if len(kinds) > 1 else [1.0]
    chosen = np.eye(union.kinds, dtype=np.float32)[list(kinds)]
    return {"kinds": chosen, "map_weights": np.asarray(acting, np.float32)}


def kinds_embedding(union: UnionConfig, kinds: Collection[int]) -> Array:
    """Embed the kinds of all maps as sinusoids: float32 [1, kinds * waves]."""
    return size_embedding([float(kind in kinds) for kind in range(union.kinds)], union.waves)[None]


def _outputs(g: GraphBuilder, config: ControlNetConfig, images: Sequence[Value]) -> None:
    """Emit the convolutions by which images leave, and declare the outputs."""
    last, residuals = len(images) - 1, ResidualWriter(g, CONTROL, config.halvings)
    for i, (image, width) in enumerate(zip(images, config.widths, strict=True)):
        name = "controlnet_mid_block" if i == last else f"controlnet_down_blocks.{i}"
        x = g.to_planes(g.conv(image, name, (width, width), kernel=1))
        if config.pools:
            mean = g.op("ReduceMean", x, g.integers([2, 3]), keepdims=1)
            # Few runtimes have an operator that repeats rows and columns.
            x = g.op("Add", g.op("Mul", x, g.constant(0)), mean)
        residuals.write(x, i, width, g.element)


def _fused(g: GraphBuilder, union: UnionConfig, maps: Value, width: int) -> Value:
    """Return the sum of the maps' embeddings [maps, ...], each with its numbers per channel.

    A map's weight acts on what its numbers are made of, and on them, and on its embedding.
    """
    weights = g.cast_to_element(g.input("map_weights", DType.F32, ("maps",)))
    per_map, row = (g.op("Reshape", weights, g.integers(shape)) for shape in ([-1, 1], [1, -1]))
    chosen = g.cast_to_element(g.input("kinds", DType.F32, ("maps", union.kinds)))
    names = g.op("MatMul", chosen, g.weight("task_embedding", (union.kinds, width)))
    mean = g.op("ReduceMean", maps, g.integers([2, 3] if g.planes else [1, 2]), keepdims=0)
    x = g.op("Mul", g.op("Add", mean, names), per_map)
    for layer in range(union.layers):
        x = _layer(g, x, f"transformer_layes.{layer}", width)
    shift = g.op("MatMul", row, g.linear(x, "spatial_ch_projs", (width, width)))
    flat = g.op("MatMul", row, g.op("Reshape", maps, g.integers([0, -1])))
    sum_shape = g.op("Concat", g.integers([1]), g.op("Shape", maps, start=1), axis=0)
    return g.shift(g.op("Reshape", flat, sum_shape), shift, width)


def _layer(g: GraphBuilder, x: Value, name: str, width: int) -> Value:
    """Emit a layer as in OpenAI's CLIP, where each token attends to itself: [maps, width]."""
    h = g.layer_norm(x, f"{name}.ln_1", width)
    # Queries, keys and values are stored as one; attention to one token is its value.
    rows = 2 * width, 3 * width
    weight = g.weight_rows(f"{name}.attn.in_proj_weight", (3 * width, width), *rows)
    bias = g.weight_rows(f"{name}.attn.in_proj_bias", (3 * width,), *rows)
    h = g.op("Add", g.times_transposed(h, weight), bias)
    x = g.op("Add", g.linear(h, f"{name}.attn.out_proj", (width, width)), x)
    h = g.layer_norm(x, f"{name}.ln_2", width)
    h = g.quick_gelu(g.linear(h, f"{name}.mlp.c_fc", (width, 4 * width)))
    return g.op("Add", g.linear(h, f"{name}.mlp.c_proj", (4 * width, width)), x)
