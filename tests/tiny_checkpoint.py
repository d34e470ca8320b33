"""A whole Stable Diffusion checkpoint of 14 MB, in diffusers' layout, made without torch.

Its weights are random, so its pictures are coloured noise, but every part is there and every tool
that reads diffusers folders reads it.
"""

import json
import string
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from backends.base import Array, DType
from engine.families import Component
from tests.checkpoints.arrays import write_arrays
from tests.families import folders, listings

# Pixels per latent cell, and the smallest size that a request may ask for.
DOWNSCALE = 2
SIDE = 64

Weights = dict[Component, dict[str, Array]]

_FOLDERS = {
    Component.DENOISER: ("unet", "diffusion_pytorch_model"),
    Component.VAE: ("vae", "diffusion_pytorch_model"),
    Component.TEXT_ENCODER: ("text_encoder", "model"),
}
_START, _END = "<|startoftext|>", "<|endoftext|>"


def write_checkpoint(
    path: Path,
    *,
    prediction: str = "epsilon",
    in_channels: int = 4,
    dtype: DType = DType.F32,
    seed: int = 0,
    change: Callable[[Weights], None] | None = None,
) -> Path:
    """Write the checkpoint; `change` may alter its weights first."""
    weights = _random_weights(in_channels, seed)
    if change:
        weights = {
            component: {name: array.copy() for name, array in arrays.items()}
            for component, arrays in weights.items()
        }
        change(weights)
    configs: dict[Component, Mapping[str, object]] = {
        Component.DENOISER: folders.UNET | _UNET | {"in_channels": in_channels},
        Component.VAE: folders.VAE | _VAE,
        Component.TEXT_ENCODER: folders.TEXT | {"model_type": "clip_text_model"},
    }
    for component, (name, stem) in _FOLDERS.items():
        folder = path / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(configs[component]))
        write_arrays(folder / f"{stem}.safetensors", weights[component], dtype)
    scheduler = folders.SCHEDULER | {"prediction_type": prediction, "clip_sample": False}
    (path / "scheduler").mkdir()
    (path / "scheduler" / "scheduler_config.json").write_text(json.dumps(scheduler))
    write_tokenizer(path / "tokenizer")
    (path / "model_index.json").write_text(json.dumps(_PIPELINE))
    return path


# What diffusers needs to be told and we read off the weights.
_UNET = {
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
}
_VAE = {
    "down_block_types": ["DownEncoderBlock2D"] * 2,
    "up_block_types": ["UpDecoderBlock2D"] * 2,
    "latent_channels": 4,
    "sample_size": SIDE,
}
_PIPELINE = {
    "_class_name": "StableDiffusionPipeline",
    "_diffusers_version": "0.42.0",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "scheduler": ["diffusers", "DDIMScheduler"],
    "safety_checker": [None, None],
    "feature_extractor": [None, None],
    "requires_safety_checker": False,
}


@lru_cache(maxsize=2)
def _random_weights(in_channels: int, seed: int) -> Weights:
    """Draw weights as a network is initialised: activations stay near unit size.

    They are not to be written to: checkpoints of the same weights are written many times.
    """
    unet = replace(listings.SMALL_UNET, in_channels=in_channels)
    with TemporaryDirectory() as folder:
        shapes = folders.canonical(Path(folder), unet)
    random = np.random.default_rng(seed)
    return {
        component: {name: _drawn(random, name, shape) for name, shape in listing.items()}
        for component, listing in shapes.items()
    }


def _drawn(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    drawn = random.standard_normal(shape, np.float32)
    if "embedding.weight" in name:
        return drawn
    if len(shape) > 1:
        return drawn / np.float32(np.sqrt(np.prod(shape[1:])))
    is_norm_scale = "norm" in name and name.endswith("weight")
    return 0.1 * drawn + np.float32(is_norm_scale)


def write_tokenizer(folder: Path, pad: str = _END) -> None:
    """Letters, a comma, and some merges of two: everything else is unknown."""
    folder.mkdir(parents=True)
    letters = [*string.ascii_lowercase, ","]
    merges = [("r", "e"), ("h", "o"), ("a", "n</w>"), ("e", "d</w>"), ("s", "e</w>"), ("b", "l")]
    tokens = [*letters, *(letter + "</w>" for letter in letters), *(a + b for a, b in merges)]
    tokens += [_START, _END]
    size = listings.SMALL_CLIP.vocabulary
    assert len(tokens) <= size
    vocabulary = {token: index for index, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n")
    config = {
        "tokenizer_class": "CLIPTokenizer",
        "model_max_length": 77,
        "bos_token": _START,
        "eos_token": _END,
        "unk_token": _END,
        "pad_token": pad,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
