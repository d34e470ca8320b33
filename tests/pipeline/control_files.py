"""ControlNets with random weights for the tiny checkpoint, and maps, made without torch."""

from pathlib import Path

import numpy as np
from PIL import Image

from engine.families import Component, identify
from engine.families.shared.component_network import config_of
from engine.graphs.control_net import ControlNetConfig, UnionConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.unet_encoder import EncoderConfig
from tests.checkpoints.arrays import write_arrays
from tests.control.small import control_net_arrays
from tests.tiny_checkpoint import SIDE


def write_control_net(
    path: Path, checkpoint: Path, seed: int = 0, union: UnionConfig | None = None
) -> Path:
    """A ControlNet for a tiny checkpoint, in diffusers' names."""
    unet = config_of(identify(checkpoint), Component.DENOISER, UNetConfig)
    encoder = EncoderConfig(
        **{name: getattr(unet, name) for name in EncoderConfig.__struct_fields__}
    )
    # One halving: a cell of the tiny checkpoint has two pixels a side.
    arrays = control_net_arrays(ControlNetConfig(encoder, map_widths=(4, 8), union=union), seed)
    write_arrays(path, {name: 2 * array for name, array in arrays.items()})
    return path


def write_map(path: Path, seed: int = 0, size: tuple[int, int] = (SIDE, SIDE)) -> Path:
    """A map of coloured noise, of this width and height."""
    levels = np.random.default_rng(seed).integers(0, 256, (*size[::-1], 3), np.uint8)
    Image.fromarray(levels).save(path)
    return path
