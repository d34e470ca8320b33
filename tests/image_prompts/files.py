"""Tiny adapters as IP-Adapter's authors store them, tiny vision encoders, and pictures to show."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from backends.base import Array
from engine.graphs.clip_vision import ClipVisionConfig, clip_vision
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights

STATES, PROJECTED, SIDE, PATCH = 64, 40, 28, 7
# Patches, and the whole picture.
SEEN = (SIDE // PATCH) ** 2 + 1
CLIP = ClipVisionConfig(STATES, 96, 3, 4, PROJECTED, side=SIDE, patch=PATCH)
KINDS = ("standard", "full", "plus")
# The resampler: its width, its heads of 64, and the tokens that it makes.
_INNER, _HEADS, _QUERIES = 48, 2, 5

Arrays = dict[str, Array]


def adapter_arrays(
    kind: str, widths: Sequence[int], context_width: int, seed: int = 0
) -> dict[str, Arrays]:
    """The two dictionaries of an adapter's file, for layers of these widths."""
    drawn = _Drawn(seed)
    layers: Arrays = {}
    for place, width in enumerate(widths):
        for part in "kv":
            matrix = 2 * drawn(width, context_width)
            layers[f"{2 * place + 1}.to_{part}_ip.weight"] = matrix
    projections = {"standard": _standard, "full": _full, "plus": _plus}
    return {"image_proj": projections[kind](drawn, context_width), "ip_adapter": layers}


def write_adapter(
    path: Path, kind: str, widths: Sequence[int], context_width: int, seed: int = 0
) -> Path:
    """Write an adapter as a safetensors file."""
    write_arrays(path, flat(adapter_arrays(kind, widths, context_width, seed)))
    return path


def flat(arrays: dict[str, Arrays]) -> Arrays:
    """The arrays of an adapter by the names in a safetensors file."""
    return {
        f"{part}.{name}": array
        for part, part_arrays in arrays.items()
        for name, array in part_arrays.items()
    }


def encoder_arrays(config: ClipVisionConfig = CLIP) -> Arrays:
    """The weights of a vision encoder by transformers' names."""
    return random_weights(lambda g: clip_vision(g, config, states=False))


def write_encoder(folder: Path, config: ClipVisionConfig = CLIP) -> Path:
    """Write a vision encoder as transformers does."""
    folder.mkdir(parents=True)
    settings = {
        "model_type": "clip_vision_model",
        "hidden_size": config.width,
        "hidden_act": config.activation.value,
        "num_attention_heads": config.heads,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    write_arrays(folder / "model.safetensors", encoder_arrays(config))
    return folder


def write_picture(path: Path, seed: int = 1) -> Path:
    """Write a picture of soft colours, wider than high."""
    small = np.random.default_rng(seed).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    Image.fromarray(small).resize((71, 50), Image.Resampling.BICUBIC).save(path)
    return path


def write_mask(path: Path, *, left: bool = True) -> Path:
    """Write a mask of one half with a slanted edge, of another size than the picture."""
    rows, columns = np.mgrid[:48, :48]
    inside = columns + rows // 4 < 28
    Image.fromarray(np.where(inside == left, 255, 0).astype(np.uint8)).save(path)
    return path


class _Drawn:
    """Draws matrices that keep numbers near unit size, and the weights of norms."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> Array:
        values = self._random.standard_normal(shape, np.float32)
        return values / np.float32(np.sqrt(np.prod(shape[1:])))

    def bias(self, width: int) -> Array:
        return 0.1 * self(width, 1)[:, 0]

    def norm(self, name: str, width: int) -> Arrays:
        return {f"{name}.weight": 1 + self.bias(width), f"{name}.bias": self.bias(width)}


def _standard(drawn: _Drawn, width: int) -> Arrays:
    return {
        "proj.weight": drawn(4 * width, PROJECTED),
        "proj.bias": drawn.bias(4 * width),
        **drawn.norm("norm", width),
    }


def _full(drawn: _Drawn, width: int) -> Arrays:
    return {
        "proj.0.weight": drawn(STATES, STATES),
        "proj.0.bias": drawn.bias(STATES),
        "proj.2.weight": drawn(width, STATES),
        "proj.2.bias": drawn.bias(width),
        **drawn.norm("proj.3", width),
    }


def _plus(drawn: _Drawn, width: int) -> Arrays:
    found = {
        "latents": drawn(1, _QUERIES, _INNER) * 5,
        "proj_in.weight": drawn(_INNER, STATES),
        "proj_in.bias": drawn.bias(_INNER),
        "proj_out.weight": drawn(width, _INNER),
        "proj_out.bias": drawn.bias(width),
        **drawn.norm("norm_out", width),
    }
    for layer in range(4):
        name = f"layers.{layer}"
        found |= {
            **drawn.norm(f"{name}.0.norm1", _INNER),
            **drawn.norm(f"{name}.0.norm2", _INNER),
            f"{name}.0.to_q.weight": drawn(64 * _HEADS, _INNER),
            f"{name}.0.to_kv.weight": drawn(2 * 64 * _HEADS, _INNER),
            f"{name}.0.to_out.weight": drawn(_INNER, 64 * _HEADS),
            **drawn.norm(f"{name}.1.0", _INNER),
            f"{name}.1.1.weight": drawn(4 * _INNER, _INNER),
            f"{name}.1.3.weight": drawn(_INNER, 4 * _INNER),
        }
    return found
