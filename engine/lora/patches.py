"""The changes that one layer of a LoRA file makes to that layer's weight and bias."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.api.lora_rules import DoraRule, LoraRules
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.differences import hadamard, kronecker, low_rank
from engine.lora.modules import LoraModule
from engine.lora.rotations import rotation
from engine.lora.tensors import LayerTensors
from engine.lora.transforms import (
    Decomposition,
    Replacement,
    ScaledAxis,
    input_product,
    peft_scaled_axis,
    scaled_axis,
)
from engine.weights.patched import FullDifference, Patch, fits

Shape = tuple[int, ...]
# Parts that add to the bias.
_BIAS = "diff_b", "b_norm", "lora_up.bias"


def patches_of(
    module: LoraModule,
    strength: float,
    rules: LoraRules | None = None,
    *,
    shape: Shape | None = None,
    rank: int | None = None,
) -> dict[str, Patch]:
    """Return the patches of a layer's "weight" and "bias" at a strength; none at strength 0.

    `shape` is the shape of the layer's weight, if it is known, which a module of several layers
    changes as one. `rank` limits a low-rank product to its first ranks, as A1111's `dyn=` does.
    Raises EngineError: CHECKPOINT_MISMATCH for tensors that do not fit each other or the weight,
    CHECKPOINT_INCOMPLETE for a missing one, NOT_AVAILABLE for an unknown type of change.
    """
    if strength == 0:
        return {}
    rules = rules or LoraRules()
    tensors = LayerTensors(module if rules.adapter_alpha else replace(module, stated_scale=1.0))
    found: dict[str, Patch] = {}
    weight = _weight_patch(tensors, strength, rules, shape, rank)
    if weight is not None:
        found["weight"] = weight
    bias = _bias_patch(tensors, strength)
    if isinstance(weight, ScaledAxis) and weight.of_results:
        bias = weight
    if bias is not None:
        found["bias"] = bias
    if not found:
        raise _unknown(tensors)
    if weight is not None and shape is not None and not fits(weight, shape):
        shaped = [part for part in tensors if tensors[part].elements > 1]
        raise tensors.refused(*shaped, wanted=f"the weight {list(shape)}")
    return found


def _weight_patch(
    tensors: LayerTensors, strength: float, rules: LoraRules, shape: Shape | None, rank: int | None
) -> Patch | None:
    """Return the change of the weight; None if the layer has none."""
    if "dora_scale" not in tensors:
        return _plain_patch(tensors, strength, rules, shape, rank)
    inner = strength if rules.dora is DoraRule.INSIDE else 1.0
    change = _plain_patch(tensors, inner, rules, shape, rank)
    if change is None:
        raise _unknown(tensors)
    return Decomposition(change, tensors["dora_scale"], rules.dora, strength)


def _plain_patch(
    tensors: LayerTensors, strength: float, rules: LoraRules, shape: Shape | None, rank: int | None
) -> Patch | None:
    """Return the change of the weight without DoRA; None if the layer has none."""
    makers: Mapping[str, Callable[[], Patch]] = {
        "lora_up.weight": lambda: low_rank(tensors, strength, rank),
        "lora_down.weight": lambda: low_rank(tensors, strength, rank),
        "hada_w1_a": lambda: hadamard(tensors, strength),
        "lokr_w1": lambda: kronecker(tensors, strength),
        "lokr_w1_a": lambda: kronecker(tensors, strength),
        "a1.weight": lambda: input_product(tensors, strength, rules, shape),
        "oft_blocks": lambda: rotation(tensors, strength, rules.rotation),
        "oft_diag": lambda: rotation(tensors, strength, rules.rotation),
        "on_input": lambda: scaled_axis(tensors, strength),
        "ia3_l": lambda: peft_scaled_axis(tensors, strength, shape),
        "diff": lambda: FullDifference(tensors["diff"], strength),
        "w_norm": lambda: FullDifference(tensors["w_norm"], strength),
        "set_weight": lambda: Replacement(tensors["set_weight"]),
    }
    return next((make() for part, make in makers.items() if part in tensors), None)


def _bias_patch(tensors: LayerTensors, strength: float) -> Patch | None:
    for part in _BIAS:
        if part in tensors:
            # PEFT's bias belongs to the low-rank product, and shares its scale.
            low = part == "lora_up.bias"
            scale = tensors.scale(tensors["lora_down.weight"].shape[0]) if low else 1.0
            return FullDifference(tensors[part], strength * scale)
    return None


def _unknown(tensors: LayerTensors) -> EngineError:
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        f"The LoRA {tensors.file} changes {tensors.module.layer} in a way that is not known: "
        f"{', '.join(sorted(tensors))}.",
        "Another version of the LoRA may be of a more usual type.",
    )
