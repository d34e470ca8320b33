"""The changes that one layer of a LoRA file makes to that layer's weight and bias."""

from collections.abc import Callable, Mapping

import msgspec

from engine.api.lora_rules import DoraRule, LoraRules
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.dialects import MAGNITUDES
from engine.lora.differences import embedded, hadamard, kronecker, low_rank, with_sparse
from engine.lora.input_rotations import input_butterflies, input_rotation
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
from engine.weights.patched import FullDifference, LowRankDifference, Patch, fits

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
    if not is_known(module):
        raise _unknown(LayerTensors(module))
    stated = module if rules.adapter_alpha else msgspec.structs.replace(module, stated_scale=1.0)
    asked = _Asked(LayerTensors(stated), strength, rules, shape, rank)
    weight, bias = _weight_patch(asked), _bias_patch(asked)
    if isinstance(weight, ScaledAxis) and weight.of_results:
        bias = weight
    if weight is not None and shape is not None and not fits(weight, shape):
        shaped = [part for part in asked.tensors if asked.tensors[part].elements > 1]
        raise asked.tensors.refused(*shaped, wanted=f"the weight {list(shape)}")
    found = {"weight": weight, "bias": bias}
    return {name: patch for name, patch in found.items() if patch is not None}


def is_known(module: LoraModule) -> bool:
    """Return True if the layer's tensors are those of a known type of change."""
    return any(part in module.tensors for part in (*_MAKERS, *_BIAS))


def is_measured_otherwise(module: LoraModule, rules: LoraRules) -> bool:
    """Return True if DoRA's norms are of inputs by these rules, and the layer's magnitudes are not.

    Magnitudes of inputs are stored as [1, inputs], those of outputs as [outputs, 1].
    """
    magnitudes = module.tensors.get("dora_scale")
    of_outputs = magnitudes is not None and magnitudes.shape[:1] > (1,)
    return of_outputs and rules.dora is DoraRule.INPUTS


class _Asked(msgspec.Struct, frozen=True):
    """The arguments of `patches_of`."""

    tensors: LayerTensors
    strength: float
    rules: LoraRules
    shape: Shape | None
    rank: int | None


# What makes the change of a weight, by a part that tells its type; the first one counts.
_MAKERS: Mapping[str, Callable[[_Asked], Patch]] = {
    "lora_up.weight": lambda asked: low_rank(asked.tensors, asked.strength, asked.rank),
    "lora_down.weight": lambda asked: low_rank(asked.tensors, asked.strength, asked.rank),
    "hada_w1_a": lambda asked: hadamard(asked.tensors, asked.strength),
    "lokr_w1": lambda asked: kronecker(asked.tensors, asked.strength),
    "lokr_w1_a": lambda asked: kronecker(asked.tensors, asked.strength),
    "a1.weight": lambda asked: input_product(
        asked.tensors, asked.strength, asked.rules, asked.shape
    ),
    "oft_blocks": lambda asked: rotation(asked.tensors, asked.strength, asked.rules.rotation),
    "oft_diag": lambda asked: rotation(asked.tensors, asked.strength, asked.rules.rotation),
    "oft_R.weight": lambda asked: input_rotation(asked.tensors, asked.strength),
    "boft_R": lambda asked: input_butterflies(asked.tensors, asked.strength),
    "lora_embedding_A": lambda asked: embedded(asked.tensors, asked.strength),
    "on_input": lambda asked: scaled_axis(asked.tensors, asked.strength),
    "ia3_l": lambda asked: peft_scaled_axis(asked.tensors, asked.strength, asked.shape),
    "diff": lambda asked: FullDifference(asked.tensors["diff"], asked.strength),
    "w_norm": lambda asked: FullDifference(asked.tensors["w_norm"], asked.strength),
    "set_weight": lambda asked: Replacement(asked.tensors["set_weight"]),
}


def _weight_patch(asked: _Asked) -> Patch | None:
    """Return the change of the weight; None if the layer has none."""
    magnitudes = next((part for part in MAGNITUDES if part in asked.tensors), None)
    if magnitudes is None:
        return _plain_patch(asked)
    rule, is_pefts = asked.rules.dora, magnitudes != MAGNITUDES[0]
    # Of the tools only diffusers reads PEFT's, so that no other tool's norms are right for them.
    if is_pefts and rule is not DoraRule.INSIDE:
        rule = DoraRule.TRAINED
    inner = asked.strength if rule is DoraRule.INSIDE else 1.0
    change = _plain_patch(msgspec.structs.replace(asked, strength=inner))
    if change is None:
        raise _unknown(asked.tensors)
    return Decomposition(change, asked.tensors[magnitudes], rule, is_pefts, asked.strength)


def _plain_patch(asked: _Asked) -> Patch | None:
    """Return the change of the weight without DoRA; None if the layer has none."""
    change = next((make(asked) for part, make in _MAKERS.items() if part in asked.tensors), None)
    if isinstance(change, LowRankDifference) and "bias_indices" in asked.tensors:
        return with_sparse(asked.tensors, change, asked.strength)
    return change


def _bias_patch(asked: _Asked) -> Patch | None:
    tensors = asked.tensors
    for part in _BIAS:
        if part in tensors:
            # PEFT's bias belongs to the low-rank product, and shares its scale.
            low = part == "lora_up.bias"
            scale = tensors.scale(tensors["lora_down.weight"].shape[0]) if low else 1.0
            return FullDifference(tensors[part], asked.strength * scale)
    return None


def _unknown(tensors: LayerTensors) -> EngineError:
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        sentence(
            "The LoRA {file} changes {layer} in a way that is not known: {names}.",
            file=tensors.file,
            layer=tensors.module.layer,
            names=", ".join(sorted(tensors)),
        ),
        sentence("Another version of the LoRA may be of a more usual type."),
    )
