"""The latent-diffusion UNet (Rombach et al. 2022), as diffusers' UNet2DConditionModel names it."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.free_u import FreeU, FreeUWriter, wave_inputs
from engine.graphs.image_prompts import AttendingLayer, ImagePromptShape, ImagePromptWriter
from engine.graphs.lllite import LlliteWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Attended
from engine.graphs.reference_attention import ReferenceWriter
from engine.graphs.unet_changes import NO_CHANGES, NetworkChanges, SelfAttentionChanges
from engine.graphs.unet_encoder import (
    EncoderConfig,
    EncoderInputs,
    UNetBlock,
    UNetEncoder,
    encoder_inputs,
    halvings,
)

__all__ = [
    "ADAPTER",
    "ADAPTER_FEATURES",
    "CONTROL",
    "UNetBlock",
    "UNetConfig",
    "UNetWriter",
    "attending_layers",
    "guidance_embedding",
    "size_embedding",
    "timestep_embedding",
    "unet",
]

# The names of the optional inputs, before their numbers.
CONTROL = "control"
ADAPTER = "adapter"
# The number of images that a T2I-Adapter makes of a picture.
ADAPTER_FEATURES = 4


class UNetConfig(EncoderConfig, frozen=True, kw_only=True):
    """Sizes of a UNet. `up` lists its blocks in the order they run, from the lowest resolution."""

    out_channels: int
    up: tuple[UNetBlock, ...]


def unet(
    g: GraphBuilder,
    config: UNetConfig,
    *,
    halves_evenly: bool = False,
    changes: NetworkChanges = NO_CHANGES,
    image_prompts: Sequence[ImagePromptShape] = (),
) -> None:
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

    The residuals of ControlNets are optional inputs, control.0 to control.N float32 [contexts,
    channels, height / 2^n, width / 2^n]: one for each skip connection in the order of the way down,
    and the middle's. So are the features of T2I-Adapters, adapter.0 to adapter.3, which are added
    at the end of each block on the way down; with three blocks the last is added to the middle.

    `halves_evenly` promises that height and width are multiples of 2 ** (levels - 1). `changes`
    may add inputs, and outputs: `attention` float32 [contexts, cells of the middle]; those of
    `ReferenceWriter`. With
    `image_prompts` there are the inputs of `ImagePromptWriter`.
    """
    inputs = encoder_inputs(g, config)
    pictures = ImagePromptWriter(g, attending_layers(config), image_prompts)
    x = UNetWriter(g, config, inputs, changes, halves_evenly, pictures).run(inputs.sample)
    g.output(
        g.to_planes(x),
        "prediction",
        DType.F32,
        ("contexts", config.out_channels, "height", "width"),
    )


def self_attention_layers(config: UNetConfig) -> Iterator[str]:
    """Yield the names of the self-attention layers in the order they run."""
    parts = [(f"down_blocks.{i}", block) for i, block in enumerate(config.down)]
    parts += [("mid_block", config.mid)] if config.mid else []
    parts += [(f"up_blocks.{i}", block) for i, block in enumerate(config.up)]
    for name, block in parts:
        for j, depth in enumerate(block.depths):
            for k in range(depth):
                yield f"{name}.attentions.{j}.transformer_blocks.{k}.attn1"


def attending_layers(config: UNetConfig) -> tuple[AttendingLayer, ...]:
    """Return the layers that attend to the text, in the order of diffusers' `attn_processors`.

    That is the way down, the way up, and the middle last; IP-Adapter's files number layers so.
    """
    lowest = len(config.down) - 1
    down = [(f"down_blocks.{level}", block, level) for level, block in enumerate(config.down)]
    mid = [("mid_block", config.mid, lowest)] if config.mid else []
    up = [(f"up_blocks.{i}", block, lowest - i) for i, block in enumerate(config.up)]
    number, found = 0, dict[str, list[AttendingLayer]]()
    for part, block, level in (*down, *mid, *up):
        for j, depth in enumerate(block.depths):
            name = f"{part}.attentions.{j}.transformer_blocks"
            layers = found.setdefault(part, [])
            layers += (
                AttendingLayer(f"{name}.{k}.attn2", block.width, level, number)
                for k in range(depth)
            )
            number += depth > 0
    middle = found.pop("mid_block", [])
    return (*chain.from_iterable(found.values()), *middle)


def free_u_inputs(config: UNetConfig, form: FreeU, size: tuple[int, int]) -> dict[str, Array]:
    """Return the inputs of FreeU that depend on the latent's height and width, by name."""
    found: dict[str, Array] = {}
    before = config.mid.width if config.mid else config.down[-1].width
    for number, block in enumerate(config.up):
        level = len(config.down) - 1 - number
        widths = {before, block.width} if len(block.depths) > 1 else {before}
        stages = (form.stage(number, width, config.down[0].width) for width in widths)
        if any(stage is not None for stage in stages):
            found |= wave_inputs(level, size)
        before = block.width
    return found


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


class UNetWriter(UNetEncoder):
    """Emits the whole network."""

    def __init__(
        self,
        g: GraphBuilder,
        config: UNetConfig,
        inputs: EncoderInputs,
        changes: NetworkChanges,
        halves_evenly: bool,
        pictures: ImagePromptWriter,
    ) -> None:
        super().__init__(g, config, inputs)
        self._pictures = pictures
        self._whole, self._halves_evenly = config, halves_evenly
        self._changes, self._altered = changes, SelfAttentionChanges(g, changes)
        self._lllite = LlliteWriter(g, changes.lllite)
        self._reference = ReferenceWriter(g, changes.reference, attending_layers(config))
        # The image that the present transformer is given.
        self._image: Value = ""
        self._free_u: FreeUWriter | None = None
        if changes.free_u:
            self._free_u = FreeUWriter(g, changes.free_u, config.down[0].width)
        self._halvings = halvings(config)

    def run(self, sample: Value) -> Value:
        """Emit the down path, the middle and the up path with its skip connections."""
        g, config = self.g, self._whole
        x = self.begin(g.from_planes(g.cast_to_element(sample)))
        perturbs = self._changes.perturbs(next(self_attention_layers(config), ""))
        if perturbs or self._reference.acts:
            x = self.all_per_context(x)
        x, width = self._controlled(*self.middle(self.down(x)))
        for i, block in enumerate(config.up):
            x = self._up(x, width, block, i)
            width = block.width
        x = x if self.per_context else self.repeat(x)
        x = g.norm_silu(x, "conv_norm_out", width, config.norm_groups, config.norm_epsilon)
        return g.conv(x, "conv_out", (width, config.out_channels))

    def transformer(self, x: Value, name: str, block: UNetBlock, depth: int) -> Value:
        """Emit transformer blocks; see `UNetEncoder.transformer`."""
        self._image = x
        return super().transformer(x, name, block, depth)

    def self_attention(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Emit self-attention as in the checkpoint, or as it is changed."""
        if self._altered.touch(name):
            return self._altered.write(x, name, block)
        if self._reference.writes_at(name):
            self._reference.show(name, self.g.to_image(x, self._image))
        alone = super().self_attention(x, name, block)
        if not self._reference.reads_at(name):
            return alone
        both = self._reference.joined(name, x)
        joined = self._attention(x, both, block.width, name, block)
        return self._reference.mixed(alone, joined)

    def _attention(
        self, x: Value, source: Value, source_width: int, name: str, block: UNetBlock
    ) -> Value:
        """Emit attention, where modules of ControlNet-LLLites may change what is projected."""
        names, width = [f"{name}.to_{part}" for part in "qkv"], block.width
        if not self._lllite.acts_on(*names):
            return super()._attention(x, source, source_width, name, block)
        given = ((x, width), (source, source_width), (source, source_width))
        q, k, v = (
            self.g.linear(
                self._lllite.input_of(tokens, layer, inner), layer, (inner, width), bias=False
            )
            for layer, (tokens, inner) in zip(names, given, strict=True)
        )
        mixed = self.g.attention(q, k, v, block.heads, width // block.heads)
        beside = () if source == x else self.beside(name)
        return self.g.with_beside(mixed, q, block.heads, beside)

    def beside(self, layer: str) -> tuple[Attended, ...]:
        """Return the image prompts that a layer attends to beside the text."""
        return self._pictures.at(layer)

    def _up(self, x: Value, width: int, block: UNetBlock, number: int) -> Value:
        name, level = f"up_blocks.{number}", len(self._whole.down) - 1 - number
        for j, depth in enumerate(block.depths):
            skip, skip_width = self.skips.pop()
            place = len(self.skips)
            residual = self._residual(f"{CONTROL}.{place}", skip_width, self._halvings[place])
            skip = self.g.add(skip, residual)
            if self._free_u:
                x, skip = self._free_u.write(x, width, skip, (number, level))
            x = self.g.join(x, skip)
            x = self.resnet(x, f"{name}.resnets.{j}", (width + skip_width, block.width))
            width = block.width
            if depth:
                x = self.transformer(x, f"{name}.attentions.{j}", block, depth)
        if block.resample:
            x = self._upsample(x, f"{name}.upsamplers.0.conv", width)
        return x

    def adapted(self, x: Value, number: int) -> Value:
        """Return the image at the end of a block on the way down with an adapter's features."""
        block = self._whole.down[number]
        features = self._residual(
            f"{ADAPTER}.{number}", block.width, self._halvings[len(self.skips)]
        )
        return self.g.add(self.all_per_context(x), features)

    def _controlled(self, x: Value, width: int) -> tuple[Value, int]:
        """Add what is added to the middle's output: an adapter's last features, a residual."""
        blocks, last = len(self._whole.down), self._halvings[-1]
        x = self.all_per_context(x)
        if blocks < ADAPTER_FEATURES:
            x = self.g.add(x, self._residual(f"{ADAPTER}.{blocks}", width, last))
        residual = self._residual(f"{CONTROL}.{len(self.skips)}", width, last)
        return self.g.add(x, residual), width

    def _residual(self, name: str, width: int, halved: int) -> Value:
        """Declare an optional input, and return it as an image of the graph."""
        g, sides = self.g, ("height", "width")
        if halved:
            sides = (f"height/{1 << halved}", f"width/{1 << halved}")
        x = g.input(name, DType.F32, ("contexts", width, *sides), optional=True)
        return g.from_planes(g.cast_to_element(x))

    def _upsample(self, x: Value, name: str, width: int) -> Value:
        if self._halves_evenly:
            return self.g.doubled_conv(x, name, (width, width))
        return self.g.conv(self.g.resize_like(x, self.skips[-1][0]), name, (width, width))
