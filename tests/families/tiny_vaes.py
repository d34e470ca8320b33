"""A tiny autoencoder of random weights, in every layout its files have."""

from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from tests.checkpoints.arrays import write_arrays
from tests.families.listings import Listing, affine
from tests.graphs.networks import random_weights

CONFIG = TinyVaeConfig(4, 8, (1, 2), (2, 1))
# FLUX.2's, with the channels of its latent.
CONFIG_2 = TinyVaeConfig(128, 8, (1, 1, 1, 1), (1, 1, 1, 1), patch=2, normalises=True)


def decoder_weights(config: TinyVaeConfig = CONFIG) -> dict[str, Array]:
    return random_weights(partial(tiny_decoder, config=config))


def encoder_weights(config: TinyVaeConfig = CONFIG) -> dict[str, Array]:
    return random_weights(partial(tiny_encoder, config=config))


def write_diffusers(path: Path, config: TinyVaeConfig = CONFIG) -> Path:
    """`AutoencoderTiny`'s one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, encoder_weights(config) | decoder_weights(config), DType.F32)
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


def published_taef2(side: str) -> Listing:
    """The names and shapes of `taef2_encoder.pth` and `taef2_decoder.pth`, as published."""
    if side == "encoder":
        first, last, single = affine("0", 64, 3, 3, 3), affine("14", 32, 64, 3, 3), (2, 6, 10)
        blocks, normalised = (1, 3, 4, 5, 7, 8, 9, 11, 12, 13), (11, 12, 13)
    else:
        first, last, single = affine("1", 64, 32, 3, 3), affine("19", 3, 64, 3, 3), (7, 12, 17)
        blocks, normalised = (3, 4, 5, 8, 9, 10, 13, 14, 15, 18), (3, 4, 5)
    names = first | last | {f"{place}.weight": (64, 64, 3, 3) for place in single}
    for place in blocks:
        for layer in (0, 2, 4):
            names |= affine(f"{place}.conv.{layer}", 64, 64, 3, 3)
    for place in normalised:
        names |= affine(f"{place}.pool.1", 256)
        names |= {f"{place}.pool.0.weight": (256, 64, 1, 1)}
        names |= {f"{place}.pool.3.weight": (64, 256, 1, 1)}
    return names


def published_taef2_of_diffusers_names() -> Listing:
    """The decoder in `taef2.safetensors`, where the clamp is not counted."""
    names: Listing = {}
    for name, shape in published_taef2("decoder").items():
        place, rest = name.split(".", 1)
        names[f"decoder.layers.{int(place) - 1}.{rest}"] = shape
    return names
