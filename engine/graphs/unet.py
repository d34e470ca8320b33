"""The latent-diffusion UNet (Rombach et al. 2022), as diffusers' UNet2DConditionModel names it."""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder


@dataclass(frozen=True, slots=True)
class UNetBlock:
    """One resolution level of the down or up path, or the middle.

    `depths` has one entry per residual block: how many transformer blocks follow it, 0 for none.
    """

    width: int
    depths: tuple[int, ...]
    heads: int
    resample: bool


@dataclass(frozen=True, slots=True)
class UNetConfig:
    """Sizes of a UNet. `up` lists its blocks in the order they run, from the lowest resolution."""

    in_channels: int
    out_channels: int
    context_width: int
    down: tuple[UNetBlock, ...]
    # Two residual blocks around `depths[0]` transformer blocks.
    mid: UNetBlock
    up: tuple[UNetBlock, ...]
    norm_groups: int = 32
    norm_epsilon: float = 1e-5
    # SD 2 and SDXL project into the transformer with a linear layer, SD 1 with a 1x1 convolution.
    linear_projection: bool = False


def unet(g: GraphBuilder, config: UNetConfig) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs: sample float32 [batch, in_channels, height, width]; time_waves float32 [1, width of the
    first level], see `time_waves`; context float32 [batch, tokens, context_width]. Output:
    prediction float32 [batch, out_channels, height, width].
    """
    image = ("batch", config.in_channels, "height", "width")
    sample = g.input("sample", DType.F32, image)
    waves = g.input("time_waves", DType.F32, (1, config.down[0].width))
    tokens = g.input("context", DType.F32, ("batch", "tokens", config.context_width))
    network = _UNet(g, config, _time_embedding(g, config, waves), g.cast_to_element(tokens))
    x = network.run(g.cast_to_element(sample))
    g.output(x, "prediction", DType.F32, ("batch", config.out_channels, "height", "width"))


def time_waves(config: UNetConfig, timestep: float) -> Array:
    """A timestep in [0, 999] as the network wants it: float32 [1, width of the first level].

    Sinusoids (Vaswani et al. 2017, 3.5; cosines first, as in DDPM), in float32 as diffusers has
    them. Outside the graph, because a runtime told to compute in bfloat16 does so from the inputs
    on, float32 or not, and bfloat16 cannot tell timestep 997 from 1000.
    """
    half = config.down[0].width // 2
    frequencies = np.exp(-math.log(10000) * np.arange(half) / half).astype(np.float32)
    angles = np.float32(timestep) * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)])[np.newaxis]


def _time_embedding(g: GraphBuilder, config: UNetConfig, waves: Value) -> Value:
    """The sinusoids of the time through a two-layer MLP."""
    base = config.down[0].width
    h = g.linear(g.cast_to_element(waves), "time_embedding.linear_1", (base, 4 * base))
    h = g.linear(g.silu(h), "time_embedding.linear_2", (4 * base, 4 * base))
    # Every residual block applies SiLU to it first: once is enough.
    return g.silu(h)


class _UNet:
    """The parts of the network that share its builder, time embedding and text."""

    def __init__(self, g: GraphBuilder, config: UNetConfig, time: Value, context: Value) -> None:
        self.g, self.config, self.time, self.context = g, config, time, context
        self.time_width = 4 * config.down[0].width

    def run(self, x: Value) -> Value:
        """Down, middle, up; each stage on the way down skips to its twin on the way up."""
        g, config = self.g, self.config
        width = config.down[0].width
        x = g.conv(x, "conv_in", (config.in_channels, width))
        skips = [(x, width)]
        for i, block in enumerate(config.down):
            x = self._down(x, skips, block, f"down_blocks.{i}")
        x = self._mid(x)
        width = config.mid.width
        for i, block in enumerate(config.up):
            x = self._up(x, width, skips, block, f"up_blocks.{i}")
            width = block.width
        x = g.group_norm(x, "conv_norm_out", width, config.norm_groups, config.norm_epsilon)
        return g.conv(g.silu(x), "conv_out", (width, config.out_channels))

    def _down(self, x: Value, skips: list[tuple[Value, int]], block: UNetBlock, name: str) -> Value:
        for j, depth in enumerate(block.depths):
            x = self._resnet(x, f"{name}.resnets.{j}", (skips[-1][1], block.width))
            if depth:
                x = self._transformer(x, f"{name}.attentions.{j}", block, depth)
            skips.append((x, block.width))
        if block.resample:
            channels = (block.width, block.width)
            x = self.g.conv(x, f"{name}.downsamplers.0.conv", channels, stride=2)
            skips.append((x, block.width))
        return x

    def _mid(self, x: Value) -> Value:
        mid = self.config.mid
        x = self._resnet(x, "mid_block.resnets.0", (mid.width, mid.width))
        if mid.depths[0]:
            x = self._transformer(x, "mid_block.attentions.0", mid, mid.depths[0])
        return self._resnet(x, "mid_block.resnets.1", (mid.width, mid.width))

    def _up(
        self, x: Value, width: int, skips: list[tuple[Value, int]], block: UNetBlock, name: str
    ) -> Value:
        for j, depth in enumerate(block.depths):
            skip, skip_width = skips.pop()
            x = self.g.op("Concat", x, skip, axis=1)
            x = self._resnet(x, f"{name}.resnets.{j}", (width + skip_width, block.width))
            width = block.width
            if depth:
                x = self._transformer(x, f"{name}.attentions.{j}", block, depth)
        if block.resample:
            x = self.g.resize_like(x, skips[-1][0])
            x = self.g.conv(x, f"{name}.upsamplers.0.conv", (width, width))
        return x

    def _resnet(self, x: Value, name: str, channels: tuple[int, int]) -> Value:
        """A residual block (He et al. 2016) conditioned on the time step."""
        g, config, width = self.g, self.config, channels[1]
        groups, epsilon = config.norm_groups, config.norm_epsilon
        h = g.silu(g.group_norm(x, f"{name}.norm1", channels[0], groups, epsilon))
        h = g.conv(h, f"{name}.conv1", channels)
        time = g.linear(self.time, f"{name}.time_emb_proj", (self.time_width, width))
        h = g.op("Add", h, g.op("Reshape", time, g.integers([0, width, 1, 1])))
        h = g.silu(g.group_norm(h, f"{name}.norm2", width, groups, epsilon))
        h = g.conv(h, f"{name}.conv2", (width, width))
        if channels[0] != width:
            x = g.conv(x, f"{name}.conv_shortcut", channels, kernel=1)
        return g.op("Add", x, h)

    def _transformer(self, x: Value, name: str, block: UNetBlock, depth: int) -> Value:
        """Transformer blocks over the cells of the latent, attending to each other and the text."""
        g, width = self.g, block.width
        # The spatial transformer's norm has an epsilon of its own in every release of SD.
        h = g.group_norm(x, f"{name}.norm", width, self.config.norm_groups, 1e-6)
        if self.config.linear_projection:
            tokens = g.linear(g.to_tokens(h, width), f"{name}.proj_in", (width, width))
        else:
            h = g.conv(h, f"{name}.proj_in", (width, width), kernel=1)
            tokens = g.to_tokens(h, width)
        for i in range(depth):
            tokens = self._transformer_block(tokens, f"{name}.transformer_blocks.{i}", block)
        if self.config.linear_projection:
            tokens = g.linear(tokens, f"{name}.proj_out", (width, width))
            return g.op("Add", g.to_image(tokens, x), x)
        h = g.conv(g.to_image(tokens, x), f"{name}.proj_out", (width, width), kernel=1)
        return g.op("Add", h, x)

    def _transformer_block(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Self-attention, cross-attention to the text, gated feed-forward (GEGLU, Shazeer 2020)."""
        g, width = self.g, block.width
        h = g.layer_norm(x, f"{name}.norm1", width)
        x = g.op("Add", self._attention(h, h, width, f"{name}.attn1", block), x)
        h = g.layer_norm(x, f"{name}.norm2", width)
        text_width = self.config.context_width
        x = g.op("Add", self._attention(h, self.context, text_width, f"{name}.attn2", block), x)
        h = g.layer_norm(x, f"{name}.norm3", width)
        h = g.linear(h, f"{name}.ff.net.0.proj", (width, 8 * width))
        value, gate = g.halves(h, 4 * width)
        h = g.linear(g.op("Mul", value, g.gelu(gate)), f"{name}.ff.net.2", (4 * width, width))
        return g.op("Add", h, x)

    def _attention(
        self, x: Value, source: Value, source_width: int, name: str, block: UNetBlock
    ) -> Value:
        g, width, heads = self.g, block.width, block.heads
        q = g.linear(x, f"{name}.to_q", (width, width), bias=False)
        k = g.linear(source, f"{name}.to_k", (source_width, width), bias=False)
        v = g.linear(source, f"{name}.to_v", (source_width, width), bias=False)
        mixed = g.attention(q, k, v, heads, width // heads)
        return g.linear(mixed, f"{name}.to_out.0", (width, width))
