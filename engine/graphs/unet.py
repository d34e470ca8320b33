"""The latent-diffusion UNet (Rombach et al. 2022), as diffusers' UNet2DConditionModel names it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections


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
    # Two residual blocks around `depths[0]` transformer blocks; a single residual block without
    # depths, as in SSD-1B; None without a middle block, as in KOALA-700M.
    mid: UNetBlock | None
    up: tuple[UNetBlock, ...]
    norm_groups: int = 32
    norm_epsilon: float = 1e-5
    # SD 2 and SDXL project into the transformer with a linear layer, SD 1 with a 1x1 convolution.
    linear_projection: bool = False
    # Width of the vector added to the time embedding (pooled text, embedded sizes); 0 for none.
    added_width: int = 0
    # Width of the guidance embedding of networks distilled with guidance as an input; else 0.
    guidance_width: int = 0


def unet(g: GraphBuilder, config: UNetConfig, *, halves_evenly: bool = False) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs: sample float32 [batch, in_channels, height, width]; timestep_embedding float32 [1, width
    of the first level], made by the function of that name; context float32 [contexts, tokens,
    context_width], where contexts is a multiple of batch. Output: prediction float32 [contexts,
    out_channels, height, width]: the whole batch under its first contexts, then under the next
    ones. Up to the first cross-attention the contexts make no difference, so that part is computed
    once per picture.

    With an `added_width` there is an input added float32 [contexts, added_width], the pooled text
    followed by `size_embedding`; then the contexts differ from the first block on. With a
    `guidance_width` there is an input guidance_embedding float32 [1, guidance_width].

    `halves_evenly` promises that height and width are multiples of 2 ** (levels - 1).
    """
    image = ("batch", config.in_channels, "height", "width")
    sample = g.input("sample", DType.F32, image)
    timestep = g.input("timestep_embedding", DType.F32, (1, config.down[0].width))
    context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
    contexts = g.op("Shape", context, start=0, end=1)
    times = g.op("Div", contexts, g.op("Shape", sample, start=0, end=1))
    time = _time_embedding(g, config, timestep)
    if config.added_width:
        added = g.input("added", DType.F32, ("contexts", config.added_width))
        added = g.cast_to_element(added)
        time = g.op("Add", time, _embedding(g, config, added, "add_embedding", config.added_width))
    # Every residual block applies SiLU to the embedding first; applying it once is enough.
    time = g.silu(time)
    network = _UNet(g, config, time, _Context(g.cast_to_element(context), times), halves_evenly)
    x = network.run(g.from_planes(g.cast_to_element(sample)))
    g.output(
        g.to_planes(x),
        "prediction",
        DType.F32,
        ("contexts", config.out_channels, "height", "width"),
    )


def timestep_embedding(config: UNetConfig, timestep: float) -> Array:
    """Embed a timestep in [0, 999] as sinusoids: float32 [1, width of the first level].

    Cosines first, as in DDPM (Vaswani et al. 2017, 3.5), in float32 as in diffusers. Computed
    outside the graph, because a runtime that computes in bfloat16 also rounds its float32 inputs,
    and bfloat16 cannot distinguish timestep 997 from 1000.
    """
    return _sinusoids(timestep, config.down[0].width)[np.newaxis]


def guidance_embedding(config: UNetConfig, guidance: float) -> Array:
    """Embed a guidance scale for a distilled network: float32 [1, guidance_width].

    Sinusoids of 1000 (guidance - 1), sines first (Luo et al. 2023, section 4.2, w; diffusers
    `get_guidance_scale_embedding`).
    """
    half = config.guidance_width // 2
    falling = -math.log(10000) / (half - 1) * np.arange(half, dtype=np.float32)
    angles = np.float32(1000 * (guidance - 1)) * np.exp(falling)
    values = np.concatenate([np.sin(angles), np.cos(angles), np.zeros(config.guidance_width % 2)])
    return values[np.newaxis].astype(np.float32)


def size_embedding(sizes: Sequence[float], width: int) -> Array:
    """Embed sizes in pixels, which follow the pooled text: float32 [len(sizes) * width]."""
    return np.concatenate([_sinusoids(size, width) for size in sizes])


def _sinusoids(value: float, width: int) -> Array:
    half = width // 2
    frequencies = np.exp(-math.log(10000) * np.arange(half) / half).astype(np.float32)
    angles = np.float32(value) * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)])


def _time_embedding(g: GraphBuilder, config: UNetConfig, sinusoids: Value) -> Value:
    """Apply a two-layer MLP to the sinusoids of the timestep, and of guidance if it is an input."""
    width, x = config.down[0].width, g.cast_to_element(sinusoids)
    if config.guidance_width:
        guidance = g.input("guidance_embedding", DType.F32, (1, config.guidance_width))
        sizes = config.guidance_width, width
        name = "time_embedding.cond_proj"
        x = g.op("Add", x, g.linear(g.cast_to_element(guidance), name, sizes, bias=False))
    return _embedding(g, config, x, "time_embedding", width)


def _embedding(g: GraphBuilder, config: UNetConfig, x: Value, name: str, width: int) -> Value:
    wide = 4 * config.down[0].width
    h = g.linear(x, f"{name}.linear_1", (width, wide))
    return g.linear(g.silu(h), f"{name}.linear_2", (wide, wide))


@dataclass(frozen=True, slots=True)
class _Context:
    """The text [contexts, tokens, width], and the number of contexts per picture of the batch."""

    tokens: Value
    times: Value


class _UNet:
    """Emits the parts of the network, which share its builder, time embedding and text."""

    def __init__(
        self,
        g: GraphBuilder,
        config: UNetConfig,
        time: Value,
        context: _Context,
        halves_evenly: bool,
    ) -> None:
        self.g, self.config, self.time, self.context = g, config, time, context
        self.halves_evenly = halves_evenly
        self.time_width = 4 * config.down[0].width
        # Activations have the sample's batch size up to the first cross-attention, and one row per
        # context after it.
        self.skips: list[tuple[Value, int]] = []
        self.per_context = False

    def run(self, x: Value) -> Value:
        """Emit the down path, the middle and the up path with its skip connections."""
        g, config = self.g, self.config
        width = config.down[0].width
        if config.added_width:
            x, self.per_context = self._repeat(x, 4), True
        x = g.conv(x, "conv_in", (config.in_channels, width))
        self.skips.append((x, width))
        for i, block in enumerate(config.down):
            x = self._down(x, block, f"down_blocks.{i}")
        width = config.down[-1].width
        if config.mid:
            x, width = self._mid(x, width, config.mid), config.mid.width
        for i, block in enumerate(config.up):
            x = self._up(x, width, block, f"up_blocks.{i}")
            width = block.width
        x = x if self.per_context else self._repeat(x, 4)
        x = g.norm_silu(x, "conv_norm_out", width, config.norm_groups, config.norm_epsilon)
        return g.conv(x, "conv_out", (width, config.out_channels))

    def _down(self, x: Value, block: UNetBlock, name: str) -> Value:
        for j, depth in enumerate(block.depths):
            x = self._resnet(x, f"{name}.resnets.{j}", (self.skips[-1][1], block.width))
            if depth:
                x = self._transformer(x, f"{name}.attentions.{j}", block, depth)
            self.skips.append((x, block.width))
        if block.resample:
            channels = (block.width, block.width)
            x = self.g.conv(x, f"{name}.downsamplers.0.conv", channels, stride=2)
            self.skips.append((x, block.width))
        return x

    def _mid(self, x: Value, width: int, mid: UNetBlock) -> Value:
        x = self._resnet(x, "mid_block.resnets.0", (width, mid.width))
        for depth in mid.depths:
            if depth:
                x = self._transformer(x, "mid_block.attentions.0", mid, depth)
            x = self._resnet(x, "mid_block.resnets.1", (mid.width, mid.width))
        return x

    def _up(self, x: Value, width: int, block: UNetBlock, name: str) -> Value:
        for j, depth in enumerate(block.depths):
            skip, skip_width = self.skips.pop()
            x = self.g.join(x, skip)
            x = self._resnet(x, f"{name}.resnets.{j}", (width + skip_width, block.width))
            width = block.width
            if depth:
                x = self._transformer(x, f"{name}.attentions.{j}", block, depth)
        if block.resample:
            x = self._upsample(x, f"{name}.upsamplers.0.conv", width)
        return x

    def _upsample(self, x: Value, name: str, width: int) -> Value:
        if self.halves_evenly:
            return self.g.doubled_conv(x, name, (width, width))
        return self.g.conv(self.g.resize_like(x, self.skips[-1][0]), name, (width, width))

    def _resnet(self, x: Value, name: str, channels: tuple[int, int]) -> Value:
        """Emit a residual block (He et al. 2016) with the time embedding added."""
        g, config, width = self.g, self.config, channels[1]
        groups, epsilon = config.norm_groups, config.norm_epsilon
        h = g.norm_silu(x, f"{name}.norm1", channels[0], groups, epsilon)
        h = g.conv(h, f"{name}.conv1", channels)
        time = g.linear(self.time, f"{name}.time_emb_proj", (self.time_width, width))
        h = g.shift(h, time, width, shared=not config.added_width)
        h = g.norm_silu(h, f"{name}.norm2", width, groups, epsilon)
        h = g.conv(h, f"{name}.conv2", (width, width))
        if channels[0] != width:
            x = g.conv(x, f"{name}.conv_shortcut", channels, kernel=1)
        return g.add(x, h)

    def _transformer(self, x: Value, name: str, block: UNetBlock, depth: int) -> Value:
        """Emit transformer blocks over the latent's cells, with attention to the text."""
        g, width = self.g, block.width
        begins = not self.per_context
        # The spatial transformer's norm has an epsilon of its own in every release of SD.
        h = g.group_norm(x, f"{name}.norm", width, self.config.norm_groups, 1e-6)
        if self.config.linear_projection:
            tokens = g.linear(g.to_tokens(h, width), f"{name}.proj_in", (width, width))
        else:
            h = g.conv(h, f"{name}.proj_in", (width, width), kernel=1)
            tokens = g.to_tokens(h, width)
        for i in range(depth):
            tokens = self._transformer_block(tokens, f"{name}.transformer_blocks.{i}", block)
        x = self._repeat(x, 4) if begins else x
        if self.config.linear_projection:
            tokens = g.linear(tokens, f"{name}.proj_out", (width, width))
            return g.add(g.to_image(tokens, x), x)
        h = g.conv(g.to_image(tokens, x), f"{name}.proj_out", (width, width), kernel=1)
        return g.add(h, x)

    def _transformer_block(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Emit self-attention, cross-attention to the text and a GEGLU MLP (Shazeer 2020)."""
        g, width = self.g, block.width
        h = g.layer_norm(x, f"{name}.norm1", width)
        x = g.add(self._attention(h, h, width, f"{name}.attn1", block), x)
        if not self.per_context:
            x = self._repeat(x, 3)
            self.skips = [(self._repeat(skip, 4), channels) for skip, channels in self.skips]
            self.per_context = True
        h = g.layer_norm(x, f"{name}.norm2", width)
        text, text_width = self.context.tokens, self.config.context_width
        x = g.add(self._attention(h, text, text_width, f"{name}.attn2", block), x)
        h = g.layer_norm(x, f"{name}.norm3", width)
        h = g.geglu(h, f"{name}.ff.net.0.proj", (width, 4 * width))
        h = g.linear(h, f"{name}.ff.net.2", (4 * width, width))
        return g.add(h, x)

    def _repeat(self, x: Value, rank: int) -> Value:
        """Repeat activations of the batch once per context."""
        return self.g.repeat_batch(x, rank, self.context.times)

    def _attention(
        self, x: Value, source: Value, source_width: int, name: str, block: UNetBlock
    ) -> Value:
        g, width = self.g, block.width
        names = (f"{name}.to_q", f"{name}.to_k", f"{name}.to_v")
        mixed = g.attend(
            x, source, Projections(names, width, source_width, block.heads, bias=False)
        )
        return g.linear(mixed, f"{name}.to_out.0", (width, width))
