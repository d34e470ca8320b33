"""A tiny autoencoder of random weights, in every layout its files have."""

from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights

CONFIG = TinyVaeConfig(4, 8, (1, 2), (2, 1))


def decoder_weights(config: TinyVaeConfig = CONFIG) -> dict[str, Array]:
    return random_weights(partial(tiny_decoder, config=config))


def encoder_weights(config: TinyVaeConfig = CONFIG) -> dict[str, Array]:
    return random_weights(partial(tiny_encoder, config=config))


def write_diffusers(path: Path) -> Path:
    """`AutoencoderTiny`'s one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, encoder_weights() | decoder_weights(), DType.F32)
    return path


def write_original(
    folder: Path, name: str = "taesd", *, prefix: str = "", config: TinyVaeConfig = CONFIG
) -> Path:
    """The two files of taesd.py, whose decoder's layer 0 is a clamp; the decoder's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for side in ("encoder", "decoder"):
        arrays = original(side, prefix, config)
        write_arrays(folder / f"{name}_{side}.safetensors", arrays, DType.F32)
    return folder / f"{name}_decoder.safetensors"


def original(side: str, prefix: str = "", config: TinyVaeConfig = CONFIG) -> dict[str, Array]:
    weights = encoder_weights(config) if side == "encoder" else decoder_weights(config)
    renamed: dict[str, Array] = {}
    for name, array in weights.items():
        _, _, place, rest = name.split(".", 3)
        number = int(place) + (side == "decoder")
        renamed[f"{prefix}{number}.{rest}"] = np.ascontiguousarray(array)
    return renamed
