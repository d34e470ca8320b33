"""The changes that one layer of a LoRA file makes to that layer's weight and bias."""

import math

from engine.lora.modules import LoraModule
from engine.lora.tensors import LayerTensors
from engine.weights.patched import LowRankDifference, Patch


def patches_of(
    module: LoraModule, strength: float, *, shape: tuple[int, ...] | None = None
) -> dict[str, Patch]:
    """Return the patches of a layer's "weight" and "bias" at a strength; none at strength 0.

    `shape` is the shape of the layer's weight, if it is known. Raises EngineError:
    CHECKPOINT_MISMATCH for tensors that do not fit each other or the weight,
    CHECKPOINT_INCOMPLETE for a missing one, NOT_AVAILABLE for a type of change that is unknown.
    """
    if strength == 0:
        return {}
    tensors = LayerTensors(module)
    patch = _low_rank(tensors, strength)
    if shape is not None and patch.elements != math.prod(shape):
        parts = "lora_up.weight", "lora_down.weight"
        raise tensors.refused(*parts, wanted=f"the weight {list(shape)}")
    return {"weight": patch}


def _low_rank(tensors: LayerTensors, strength: float) -> LowRankDifference:
    up, down = tensors.matrix("lora_up.weight"), tensors["lora_down.weight"]
    rank, alpha = up.shape[1], tensors.number("alpha")
    if down.shape[:1] != (rank,):
        raise tensors.refused("lora_up.weight", "lora_down.weight")
    scale = 1.0 if alpha is None else alpha / rank
    return LowRankDifference(up, down, strength * scale)
