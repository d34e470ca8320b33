"""A tiny autoencoder of random weights, in every layout its files have."""

from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights

CONFIG = TinyVaeConfig(4, 8, (1, 2), (2, 1))


def decoder_weights() -> dict[str, Array]:
    return random_weights(partial(tiny_decoder, config=CONFIG))


def encoder_weights() -> dict[str, Array]:
    return random_weights(partial(tiny_encoder, config=CONFIG))


def write_diffusers(path: Path) -> Path:
    """`AutoencoderTiny`'s one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, encoder_weights() | decoder_weights(), DType.F32)
    return path


def write_original(folder: Path, name: str = "taesd", *, prefix: str = "") -> Path:
    """The two files of taesd.py, whose decoder's layer 0 is a clamp; the decoder's path."""
    folder.mkdir(parents=True, exist_ok=True)
    write_arrays(folder / f"{name}_encoder.safetensors", original("encoder", prefix), DType.F32)
    path = folder / f"{name}_decoder.safetensors"
    write_arrays(path, original("decoder", prefix), DType.F32)
    return path


def original(side: str, prefix: str = "") -> dict[str, Array]:
    weights = encoder_weights() if side == "encoder" else decoder_weights()
    renamed: dict[str, Array] = {}
    for name, array in weights.items():
        _, _, place, rest = name.split(".", 3)
        number = int(place) + (side == "decoder")
        renamed[f"{prefix}{number}.{rest}"] = np.ascontiguousarray(array)
    return renamed
