"""Small control networks with random weights, made without torch, and a checkpoint for them."""

import json
from pathlib import Path

import msgspec
import numpy as np

from backends.base import Array
from engine.control.residuals import residual_inputs
from engine.families import IdentifiedCheckpoint, identify
from engine.graphs.control_net import ControlNetConfig, control_net, map_embedding
from engine.graphs.control_residuals import MASK
from engine.graphs.operators import GraphBuilder
from engine.graphs.t2i_adapter import AdapterBlock, AdapterConfig, t2i_adapter
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.graphs.unet_encoder import EncoderConfig
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights

WIDTHS, CONTEXT = (32, 64), 24


def small_unet(*, linear: bool = False, added: int = 0) -> UNetConfig:
    """A UNet of two levels."""
    first, last = (UNetBlock(width, (1, 1), 8, width == WIDTHS[0]) for width in WIDTHS)
    return UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=CONTEXT,
        down=(first, last),
        mid=UNetBlock(WIDTHS[-1], (1,), 8, False),
        up=(UNetBlock(64, (1,) * 3, 8, True), UNetBlock(32, (1,) * 3, 8, False)),
        linear_projection=linear,
        added_width=added,
    )


def small_control_net(*, linear: bool = False, added: int = 0) -> ControlNetConfig:
    """A ControlNet for `small_unet`."""
    unet_config = small_unet(linear=linear, added=added)
    encoder = EncoderConfig(
        **{name: getattr(unet_config, name) for name in EncoderConfig.__struct_fields__}
    )
    return ControlNetConfig(encoder, map_widths=(4, 8, 8, 8))


def control_net_arrays(config: ControlNetConfig, seed: int = 0) -> dict[str, Array]:
    """Random weights of a ControlNet by diffusers' names."""

    def embeds(g: GraphBuilder) -> None:
        map_embedding(g, config)

    def steps(g: GraphBuilder) -> None:
        control_net(g, config)

    return random_weights(embeds, seed) | random_weights(steps, seed)


def as_they_are(config: ControlNetConfig, rows: int, cells: tuple[int, int]) -> dict[str, Array]:
    """The inputs by which residuals leave a network unchanged, for as many rows as contexts."""
    weights = np.ones((rows, len(config.halvings)), np.float32)
    masks = {
        f"{MASK}.{n}": np.ones((1, 1, *(-(-side // (1 << n)) for side in cells)), np.float32)
        for n in config.halvings
    }
    return residual_inputs(range(rows), weights) | masks


SMALL_ADAPTER = AdapterConfig(
    (AdapterBlock(32, 32, 2, halves=False), AdapterBlock(64, 64, 2, halves=True))
)


def adapter_arrays(config: AdapterConfig = SMALL_ADAPTER) -> dict[str, Array]:
    """Random weights of a T2I-Adapter by diffusers' names."""

    def emit(g: GraphBuilder) -> None:
        t2i_adapter(g, config)

    return random_weights(emit)


def write_unet(path: Path, config: UNetConfig) -> dict[str, Array]:
    """Write a diffusers folder that has a UNet alone; return its weights."""

    def emit(g: GraphBuilder) -> None:
        unet(g, config)

    arrays = random_weights(emit, 1)
    folder = path / "unet"
    folder.mkdir(parents=True)
    stated = {
        "block_out_channels": [block.width for block in config.down],
        "layers_per_block": len(config.down[0].depths),
        "attention_head_dim": config.down[0].heads,
        "cross_attention_dim": config.context_width,
        "norm_num_groups": config.norm_groups,
        "addition_embed_type": "text_time" if config.added_width else None,
    }
    (folder / "config.json").write_text(json.dumps(stated))
    write_arrays(folder / "diffusion_pytorch_model.safetensors", arrays)
    return arrays


def small_checkpoint(path: Path, config: UNetConfig | None = None) -> IdentifiedCheckpoint:
    """A checkpoint that has a UNet alone."""
    write_unet(path, config or small_unet())
    return identify(path)


def wider(config: UNetConfig, context_width: int) -> UNetConfig:
    """The same UNet for another text encoder."""
    return msgspec.structs.replace(config, context_width=context_width)
