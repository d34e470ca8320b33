"""The way down and the middle of a latent-diffusion UNet, which ControlNets have copies of.

Names are those of diffusers' UNet2DConditionModel.
"""

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Attended, Projections


class UNetBlock(msgspec.Struct, frozen=True):
    """One resolution level of the down or up path, or the middle.

    `depths` has one entry per residual block: how many transformer blocks follow it, 0 for none.
    `projects`: where there are none, a transformer's norm and projections are there all the same,
    as in the mid-sized ControlNets of SDXL.
    """

    width: int
    depths: tuple[int, ...]
    heads: int
    resample: bool
    projects: bool = False


def ends_after_halving(block: UNetBlock) -> bool:
    """Tell if the features of T2I-Adapters are added after a block's downsampler, not before it.

    They are where the block has no attention (diffusers `down_intrablock_additional_residuals`).
    """
    return block.resample and not any(block.depths)


class EncoderConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of the way down and of the middle."""

    in_channels: int
    context_width: int
    down: tuple[UNetBlock, ...]
    # Two residual blocks around `depths[0]` transformer blocks; a single residual block without
    # depths, as in SSD-1B; None without a middle block, as in KOALA-700M.
    mid: UNetBlock | None
    norm_groups: int = 32
    norm_epsilon: float = 1e-5
    # SD 2 and SDXL project into the transformer with a linear layer, SD 1 with a 1x1 convolution.
    linear_projection: bool = False
    # Width of the vector added to the time embedding (pooled text, embedded sizes); 0 for none.
    added_width: int = 0
    # Width of the guidance embedding of networks distilled with guidance as an input; else 0.
    guidance_width: int = 0


def halvings(config: EncoderConfig) -> tuple[int, ...]:
    """Return how often height and width are halved in each skip connection, on the way down."""
    found = [0]
    for block in config.down:
        found += [found[-1]] * len(block.depths) + [found[-1] + 1] * block.resample
    return tuple(found)


class EncoderInputs(msgspec.Struct, frozen=True):
    """The inputs of one evaluation as they are declared, and the sum of the embeddings so far."""

    sample: Value
    context: Value
    # The number of contexts for each picture of the batch: int64 [1].
    times: Value
    embedding: Value


def encoder_inputs(g: GraphBuilder, config: EncoderConfig) -> EncoderInputs:
    """Declare the inputs of one evaluation, and embed the timestep.

    They are sample float32 [batch, in_channels, height, width]; timestep_embedding float32 [1,
    width of the first level]; context float32 [contexts, tokens, context_width], where contexts is
    a multiple of batch; with an `added_width`, added float32 [contexts, added_width]; with a
    `guidance_width`, guidance_embedding float32 [1, guidance_width].
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
        embedded = embedding(g, config, added, "add_embedding", config.added_width)
        time = g.op("Add", time, embedded)
    return EncoderInputs(sample, context, times, time)


def embedding(g: GraphBuilder, config: EncoderConfig, x: Value, name: str, width: int) -> Value:
    """Embed a vector as wide as the timestep's embedding, by a two-layer MLP."""
    wide = 4 * config.down[0].width
    h = g.linear(x, f"{name}.linear_1", (width, wide))
    return g.linear(g.silu(h), f"{name}.linear_2", (wide, wide))


def _time_embedding(g: GraphBuilder, config: EncoderConfig, sinusoids: Value) -> Value:
    """Apply a two-layer MLP to the sinusoids of the timestep, and of guidance if it is an input."""
    width, x = config.down[0].width, g.cast_to_element(sinusoids)
    if config.guidance_width:
        guidance = g.input("guidance_embedding", DType.F32, (1, config.guidance_width))
        sizes = config.guidance_width, width
        name = "time_embedding.cond_proj"
        x = g.op("Add", x, g.linear(g.cast_to_element(guidance), name, sizes, bias=False))
    return embedding(g, config, x, "time_embedding", width)


class UNetEncoder:
    """Emits the layers of the way down and the middle, and keeps the skip connections."""

    def __init__(self, g: GraphBuilder, config: EncoderConfig, inputs: EncoderInputs) -> None:
        self.g, self.config = g, config
        # Every residual block applies SiLU to the embedding first; applying it once is enough.
        self._time = g.silu(inputs.embedding)
        self._context, self._times = g.cast_to_element(inputs.context), inputs.times
        self._time_width = 4 * config.down[0].width
        # The images on the way down with their channels, which the way up takes in turn.
        self.skips: list[tuple[Value, int]] = []
        # Activations have the sample's batch size up to the first cross-attention, and one row per
        # context after it; with an added vector they have one row per context from the beginning.
        self.per_context = False

    def begin(self, x: Value) -> Value:
        """Emit the first convolution of a sample [batch, ...] on the graph's layout of images."""
        config = self.config
        if config.added_width:
            x, self.per_context = self.repeat(x), True
        return self.g.conv(x, "conv_in", (config.in_channels, config.down[0].width))

    def down(self, x: Value) -> Value:
        """Emit the way down from the first convolution's output, which is the first skip."""
        self.skips.append((x, self.config.down[0].width))
        for i, block in enumerate(self.config.down):
            x = self._down(x, block, i)
        return x

    def middle(self, x: Value) -> tuple[Value, int]:
        """Emit the middle, if there is one; return its output and the number of its channels."""
        width, mid = self.config.down[-1].width, self.config.mid
        return (self._mid(x, width, mid), mid.width) if mid else (x, width)

    def all_per_context(self, x: Value) -> Value:
        """Return an image with one row per context, and make the skip connections so, too."""
        if not self.per_context:
            x = self.repeat(x)
            self._repeat_skips()
        return x

    def repeat(self, x: Value, rank: int = 4) -> Value:
        """Repeat activations of the batch once per context."""
        return self.g.repeat_batch(x, rank, self._times)

    def _down(self, x: Value, block: UNetBlock, number: int) -> Value:
        name, ends_smaller = f"down_blocks.{number}", ends_after_halving(block)
        for j, depth in enumerate(block.depths):
            x = self.resnet(x, f"{name}.resnets.{j}", (self.skips[-1][1], block.width))
            if depth or block.projects:
                x = self.transformer(x, f"{name}.attentions.{j}", block, depth)
            if j == len(block.depths) - 1 and not ends_smaller:
                x = self.adapted(x, number)
            self.skips.append((x, block.width))
        if block.resample:
            channels = (block.width, block.width)
            x = self.g.conv(x, f"{name}.downsamplers.0.conv", channels, stride=2)
            x = self.adapted(x, number) if ends_smaller else x
            self.skips.append((x, block.width))
        return x

    def adapted(self, x: Value, number: int) -> Value:
        """Return the image at the end of a block on the way down with what is added to it there.

        In a UNet these are the features of T2I-Adapters; a copy of one has none.
        """
        return x

    def _mid(self, x: Value, width: int, mid: UNetBlock) -> Value:
        x = self.resnet(x, "mid_block.resnets.0", (width, mid.width))
        for depth in mid.depths:
            if depth or mid.projects:
                x = self.transformer(x, "mid_block.attentions.0", mid, depth)
            x = self.resnet(x, "mid_block.resnets.1", (mid.width, mid.width))
        return x

    def resnet(self, x: Value, name: str, channels: tuple[int, int]) -> Value:
        """Emit a residual block (He et al. 2016) with the time embedding added."""
        g, config, width = self.g, self.config, channels[1]
        groups, epsilon = config.norm_groups, config.norm_epsilon
        h = g.norm_silu(x, f"{name}.norm1", channels[0], groups, epsilon)
        h = g.conv(h, f"{name}.conv1", channels)
        time = g.linear(self._time, f"{name}.time_emb_proj", (self._time_width, width))
        h = g.shift(h, time, width, shared=not config.added_width)
        h = g.norm_silu(h, f"{name}.norm2", width, groups, epsilon)
        h = g.conv(h, f"{name}.conv2", (width, width))
        if channels[0] != width:
            x = g.conv(x, f"{name}.conv_shortcut", channels, kernel=1)
        return g.add(x, h)

    def transformer(self, x: Value, name: str, block: UNetBlock, depth: int) -> Value:
        """Emit transformer blocks over the latent's cells, with attention to the text."""
        g, width = self.g, block.width
        begins = depth > 0 and not self.per_context
        # The spatial transformer's norm has an epsilon of its own in every release of SD.
        h = g.group_norm(x, f"{name}.norm", width, self.config.norm_groups, 1e-6)
        if self.config.linear_projection:
            tokens = g.linear(g.to_tokens(h, width), f"{name}.proj_in", (width, width))
        else:
            h = g.conv(h, f"{name}.proj_in", (width, width), kernel=1)
            tokens = g.to_tokens(h, width)
        for i in range(depth):
            tokens = self._transformer_block(tokens, f"{name}.transformer_blocks.{i}", block)
        x = self.repeat(x) if begins else x
        if self.config.linear_projection:
            tokens = g.linear(tokens, f"{name}.proj_out", (width, width))
            return g.add(g.to_image(tokens, x), x)
        h = g.conv(g.to_image(tokens, x), f"{name}.proj_out", (width, width), kernel=1)
        return g.add(h, x)

    def _transformer_block(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Emit self-attention, cross-attention to the text and a GEGLU MLP (Shazeer 2020)."""
        g, width = self.g, block.width
        h = g.layer_norm(x, f"{name}.norm1", width)
        mixed = self.self_attention(h, f"{name}.attn1", block)
        x = g.add(g.linear(mixed, f"{name}.attn1.to_out.0", (width, width)), x)
        if not self.per_context:
            x = self.repeat(x, 3)
            self._repeat_skips()
        h = g.layer_norm(x, f"{name}.norm2", width)
        text, text_width = self._context, self.config.context_width
        mixed = self._attention(h, text, text_width, f"{name}.attn2", block)
        x = g.add(g.linear(mixed, f"{name}.attn2.to_out.0", (width, width)), x)
        h = g.layer_norm(x, f"{name}.norm3", width)
        h = g.geglu(h, f"{name}.ff.net.0.proj", (width, 4 * width))
        h = g.linear(h, f"{name}.ff.net.2", (4 * width, width))
        return g.add(h, x)

    def self_attention(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Emit self-attention without its last projection: [rows, tokens, width]."""
        return self._attention(x, x, block.width, name, block)

    def beside(self, _layer: str) -> tuple[Attended, ...]:
        """Return what a layer attends to beside the text, by the layer's name: nothing."""
        return ()

    def _repeat_skips(self) -> None:
        self.skips = [(self.repeat(skip), channels) for skip, channels in self.skips]
        self.per_context = True

    def _attention(
        self, x: Value, source: Value, source_width: int, name: str, block: UNetBlock
    ) -> Value:
        g, width = self.g, block.width
        names = (f"{name}.to_q", f"{name}.to_k", f"{name}.to_v")
        to = Projections(names, width, source_width, block.heads, bias=False)
        return g.attend(x, source, to, beside=() if source == x else self.beside(name))
