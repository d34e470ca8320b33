"""The latent-diffusion UNet (Rombach et al. 2022), as diffusers' UNet2DConditionModel names it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet_encoder import (
    EncoderConfig,
    EncoderInputs,
    UNetBlock,
    UNetEncoder,
    encoder_inputs,
)

__all__ = [
    "UNetBlock",
    "UNetConfig",
    "guidance_embedding",
    "size_embedding",
    "timestep_embedding",
    "unet",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class UNetConfig(EncoderConfig):
    """Sizes of a UNet. `up` lists its blocks in the order they run, from the lowest resolution."""

    out_channels: int
    up: tuple[UNetBlock, ...]


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
    inputs = encoder_inputs(g, config)
    x = _UNet(g, config, inputs, halves_evenly).run(inputs.sample)
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


class _UNet(UNetEncoder):
    """Emits the whole network."""

    def __init__(
        self, g: GraphBuilder, config: UNetConfig, inputs: EncoderInputs, halves_evenly: bool
    ) -> None:
        super().__init__(g, config, inputs)
        self._whole, self._halves_evenly = config, halves_evenly

    def run(self, sample: Value) -> Value:
        """Emit the down path, the middle and the up path with its skip connections."""
        g, config = self.g, self._whole
        x = self.begin(g.from_planes(g.cast_to_element(sample)))
        x, width = self.middle(self.down(x))
        for i, block in enumerate(config.up):
            x = self._up(x, width, block, f"up_blocks.{i}")
            width = block.width
        x = x if self.per_context else self.repeat(x)
        x = g.norm_silu(x, "conv_norm_out", width, config.norm_groups, config.norm_epsilon)
        return g.conv(x, "conv_out", (width, config.out_channels))

    def _up(self, x: Value, width: int, block: UNetBlock, name: str) -> Value:
        for j, depth in enumerate(block.depths):
            skip, skip_width = self.skips.pop()
            x = self.g.join(x, skip)
            x = self.resnet(x, f"{name}.resnets.{j}", (width + skip_width, block.width))
            width = block.width
            if depth:
                x = self.transformer(x, f"{name}.attentions.{j}", block, depth)
        if block.resample:
            x = self._upsample(x, f"{name}.upsamplers.0.conv", width)
        return x

    def _upsample(self, x: Value, name: str, width: int) -> Value:
        if self._halves_evenly:
            return self.g.doubled_conv(x, name, (width, width))
        return self.g.conv(self.g.resize_like(x, self.skips[-1][0]), name, (width, width))
