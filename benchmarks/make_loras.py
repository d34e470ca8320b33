"""Makes a LoRA of rank 32 on every linear layer and convolution of a family's networks.

Names and shapes are those of the published networks as diffusers and transformers build them, in
diffusers' layout. The changes are random and small, so that no step overflows.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import math
import sys
from collections.abc import Mapping
from pathlib import Path

import diffusers
import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

from tests.oracle.published import BY_FAMILY

RANK = 32
_SEED = 3
# The size of a change, as a part of the size of a weight when a network is initialised.
_SHARE = 0.05


def make(path: Path, family: str) -> None:
    """Write the LoRA for a `family`, "sd15" or "sdxl", in float16."""
    random = np.random.default_rng(_SEED)
    tensors: dict[str, np.ndarray] = {}
    for prefix, network in _networks(family).items():
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.Linear | torch.nn.Conv2d):
                tensors |= _factors(f"{prefix}.{name}", tuple(module.weight.shape), random)
    part = path.with_suffix(".part")
    save_file(tensors, part, {"format": "pt"})
    part.replace(path)


def _networks(family: str) -> Mapping[str, torch.nn.Module]:
    """Return the networks, without weights, by the beginnings of their names in files."""
    published = BY_FAMILY[family]
    texts = {"text_encoder": published.text, "text_encoder_2": published.big_text}
    with torch.device("meta"):
        networks = {"unet": diffusers.UNet2DConditionModel(**published.unet)}
        for prefix, sizes in texts.items():
            if sizes is not None:
                text = transformers.CLIPTextModel(transformers.CLIPTextConfig(**sizes))
                # Files have `text_model.`, which transformers 5 dropped.
                whole = hasattr(text, "text_model")
                networks[prefix if whole else f"{prefix}.text_model"] = text
    return networks


def _factors(
    name: str, shape: tuple[int, ...], random: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return both factors for a weight [out, in, ...]: down [32, in, ...] and up [out, 32, ...]."""
    down = random.standard_normal((RANK, *shape[1:]), np.float32) / math.sqrt(RANK)
    up = random.standard_normal((shape[0], RANK, *(1 for _ in shape[2:])), np.float32)
    up *= _SHARE / math.sqrt(math.prod(shape[1:]))
    return {
        f"{name}.lora_A.weight": down.astype(np.float16),
        f"{name}.lora_B.weight": up.astype(np.float16),
    }


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
