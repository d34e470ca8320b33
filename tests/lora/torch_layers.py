"""The cases as torch's layers and tensors, for tools that are run beside the engine."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from typing import Any

import torch

from tests.lora.cases import Case, numbers


def layer_of(case: Case) -> Any:
    """Return the layer that the case changes, with its base weight and a bias."""
    shape = case.shape
    if len(shape) == 1:
        layer = torch.nn.LayerNorm(shape[0])
    elif len(shape) == 2:
        layer = torch.nn.Linear(shape[1], shape[0])
    else:
        layer = torch.nn.Conv2d(shape[1], shape[0], shape[2:], padding=shape[2] // 2)
    layer.weight.data = torch.from_numpy(case.base)
    layer.bias.data = torch.from_numpy(numbers("bias", shape[0]))
    return layer.requires_grad_(False)


def tensors_of(case: Case) -> dict[str, Any]:
    """Return the case's tensors by the part of the key."""
    return {part: torch.from_numpy(array.copy()) for part, array in case.tensors.items()}
