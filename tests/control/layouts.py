"""Names of ControlNets' and T2I-Adapters' tensors in the original layouts, from diffusers' names.

Sources: `cldm/cldm.py` of lllyasviel/ControlNet and `ldm/modules/encoders/adapter.py` of
TencentARC/T2I-Adapter. Tests marked `oracle` have diffusers read what is named so.
"""

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from engine.families.shared.unet.original_names import original_layers

Tensor = TypeVar("Tensor")

_HINT = "controlnet_cond_embedding."


def original_control_net(tensors: Mapping[str, Tensor], prefix: str = "") -> dict[str, Tensor]:
    """The tensors of a ControlNet as `cldm.ControlNet` names them."""
    names = original_names(tensors)
    return {prefix + names[name]: tensor for name, tensor in tensors.items()}


def original_names(names: Collection[str]) -> dict[str, str]:
    """Original names by diffusers' names."""
    layers = original_layers({name.rpartition(".")[0] for name in names})
    blocks = sum(name.startswith(f"{_HINT}blocks.") for name in names) // 2
    return {name: _original(name, layers, blocks) for name in names}


def _original(name: str, layers: Mapping[str, str], blocks: int) -> str:
    layer, _, leaf = name.rpartition(".")
    if layer.startswith(_HINT):
        place = layer.removeprefix(_HINT)
        inner = {"conv_in": 0, "conv_out": 2 * (blocks + 1)}
        number = inner[place] if place in inner else 2 * (int(place.split(".")[1]) + 1)
        return f"input_hint_block.{number}.{leaf}"
    if match := re.fullmatch(r"controlnet_down_blocks\.(\d+)", layer):
        return f"zero_convs.{match[1]}.0.{leaf}"
    if layer == "controlnet_mid_block":
        return f"middle_block_out.0.{leaf}"
    return f"{layers[layer]}.{leaf}"


def original_adapter(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a T2I-Adapter as TencentARC's `Adapter` and `Adapter_light` name them."""
    layers = 1 + max(int(match[1]) for match in map(_layer, tensors) if match)
    light = any(name.endswith("out_conv.weight") for name in tensors)

    def original(name: str) -> str:
        name = name.removeprefix("adapter.")
        if light:
            return name.replace(".resnets.", ".body.")
        match = re.fullmatch(r"body\.(\d+)\.(?:resnets\.(\d+)\.)?(.+)", name)
        if match is None:
            return name
        return f"body.{int(match[1]) * layers + int(match[2] or 0)}.{match[3]}"

    return {original(name): tensor for name, tensor in tensors.items()}


def _layer(name: str) -> re.Match[str] | None:
    return re.search(r"resnets\.(\d+)\.", name)
