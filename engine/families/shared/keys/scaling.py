"""Scaled fp8 and int8: weights that are multiplied by a scale of their layer, or of each row.

Two layouts of fp8 exist, each with one scale per layer. The older marks the component by a key
`scaled_fp8` and has `<layer>.scale_weight` (ComfyUI until 2025, `comfy/ops.py`, `scaled_fp8_ops`);
the newer has `<layer>.weight_scale` and states fp8 in `<layer>.comfy_quant` or in the file's
metadata (`comfy/utils.py`, `convert_old_quants`). Scales of a layer's input are ignored: they serve
multiplication in fp8, which this engine does not do. int8 has the newer layout, with a scale for
each row; what its layers state is read by `engine.families.shared.keys.int8_notes`.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backends.base import DType, FileSlice
from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.keys.int8_notes import Int8Notes, unproven_integers
from engine.families.shared.keys.numbering import damaged
from engine.weights.int8_rows import Int8Rows
from engine.weights.sources import ScaledSlice
from engine.weights.stored import StoredWeight

_SCALES = (".scale_weight", ".weight_scale")
_UNUSED = (".scale_input", ".input_scale", ".comfy_quant")
_MARK = "scaled_fp8"
# Formats by the names of the tensors that they add: bitsandbytes' (diffusers, Forge), ComfyUI's.
_INTEGERS = (
    (as_it_is("NF4 (bitsandbytes)"), (".quant_state.bitsandbytes__nf4",)),
    (as_it_is("FP4 (bitsandbytes)"), (".quant_state.bitsandbytes__fp4",)),
    (as_it_is("NVFP4"), (".weight_scale_2",)),
)
_SDNQ = as_it_is("SDNQ (SD.Next)")
_SCALE = ".scale"
_PACKED = {DType.U8, DType.I8}
_NUMBERS = {DType.F32, DType.F16, DType.BF16}


class ScaledKeys(msgspec.Struct, frozen=True):
    """A component's tensors, each joined with its scale if any, and the number of dropped keys."""

    tensors: Mapping[str, StoredWeight]
    ignored: int


def with_scales(label: Sentence, tensors: Mapping[str, FileSlice], path: Path) -> ScaledKeys:
    """Join each weight of a component with its scale; `label` names the component in errors.

    Raises EngineError: CHECKPOINT_UNREADABLE for a scale that is not one number, or one for each
    row of int8, and for integers that are not read (NF4, NVFP4, SDNQ, int4), CHECKPOINT_CORRUPT
    for a scale without a weight.
    """
    _refuse_integers(label, tensors, path)
    notes = Int8Notes(tensors, path)
    weights: dict[str, StoredWeight] = dict(tensors)
    scaled: set[str] = set()
    ignored = 0
    for name, scale in tensors.items():
        if name == _MARK or name.endswith(_UNUSED):
            ignored += 1
            del weights[name]
            continue
        if not name.endswith(_SCALES):
            continue
        ending = next(ending for ending in _SCALES if name.endswith(ending))
        weight = f"{name.removesuffix(ending)}.weight"
        if weight not in tensors or weight in scaled:
            raise damaged(path, sentence("its {name!r} scales no weight of its own", name=name))
        weights[weight] = _joined(label, weight, tensors[weight], scale, notes)
        scaled.add(weight)
        del weights[name]
    return ScaledKeys(weights, ignored + len(scaled))


def _refuse_integers(label: Sentence, tensors: Mapping[str, FileSlice], path: Path) -> None:
    """Refuse weights in integers of 4 or 8 bits whose scales stand beside them."""
    kinds = (kind for kind, signs in _INTEGERS if any(name.endswith(signs) for name in tensors))
    kind = next(kinds, _SDNQ if _has_packed_weight(tensors) else None)
    if kind is not None:
        raise unproven_integers(label, kind, path)


def _has_packed_weight(tensors: Mapping[str, FileSlice]) -> bool:
    """Tell whether integers have a scale under the name that SD.Next's quantisation gives it."""
    scaled = (name.removesuffix(_SCALE) for name in tensors if name.endswith(_SCALE))
    weights = (tensors.get(f"{layer}.weight") for layer in scaled)
    return any(weight is not None and weight.dtype in _PACKED for weight in weights)


def _joined(
    label: Sentence, name: str, weight: FileSlice, scale: FileSlice, notes: Int8Notes
) -> StoredWeight:
    """Join a weight with its scale: one number, or for int8 one for each row."""
    is_int8 = weight.dtype is DType.I8 and len(weight.shape) == 2
    counts = {1, weight.shape[0]} if is_int8 else {1}
    if scale.elements not in counts or scale.dtype not in _NUMBERS:
        raise _not_one_number(label, name, weight.path)
    if is_int8:
        return Int8Rows(weight, scale, notes.rotation(label, name, weight.shape[1]))
    return ScaledSlice(weight, scale)


def _not_one_number(label: Sentence, weight: str, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "The {label} of {path} scales {weight!r} in parts, which this version does not read.",
            label=label,
            path=path.name,
            weight=weight,
        ),
        sentence("Get the fp16 version, or fp8 with one scale for each layer."),
    )
