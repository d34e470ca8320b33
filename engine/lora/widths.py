"""The sizes of a layer that a module changes, as the shapes of the module's tensors show them."""

from collections.abc import Mapping
from math import isqrt

from engine.lora.modules import LoraModule

Shape = tuple[int, ...]
# Outputs and inputs of a layer; None where the tensors do not show them.
Widths = tuple[int | None, int | None]
UNKNOWN: Widths = (None, None)
# Parts with the shape of the weight itself.
_WHOLE = ("diff", "set_weight")


def widths(module: LoraModule) -> Widths:
    """Return the outputs and inputs of the layer that a module was made for.

    Tensors with too few dimensions show nothing. Where a type of module flattens a convolution's
    kernel, the inputs are those of the flattened one.
    """
    shapes = {part: tensor.shape for part, tensor in module.tensors.items()}
    if "reshape_weight" in shapes:  # made for a weight of another size, which it states
        return UNKNOWN
    found = _low_rank(shapes) or _hadamard(shapes) or _kronecker(shapes) or _rotation(shapes)
    return found or _whole(shapes)


def _low_rank(shapes: Mapping[str, Shape]) -> Widths | None:
    if "lora_embedding_A" in shapes:
        return _at(shapes["lora_embedding_A"], 1), _at(shapes.get("lora_embedding_B"), 0)
    up, down = shapes.get("lora_up.weight"), shapes.get("lora_down.weight")
    if up is None and down is None:
        return None
    return _at(up, 0), _at(down, 1)


def _hadamard(shapes: Mapping[str, Shape]) -> Widths | None:
    if "hada_w1_a" not in shapes:
        return None
    # Tucker's factors are [rank, outputs].
    place = 1 if "hada_t1" in shapes else 0
    return _at(shapes["hada_w1_a"], place), _at(shapes.get("hada_w1_b"), 1)


def _kronecker(shapes: Mapping[str, Shape]) -> Widths | None:
    first = _factor(shapes, "lokr_w1", tucker=False)
    second = _factor(shapes, "lokr_w2", tucker="lokr_t2" in shapes)
    if first is None or second is None:
        return None
    return _product(first[0], second[0]), _product(first[1], second[1])


def _rotation(shapes: Mapping[str, Shape]) -> Widths | None:
    """Return the inputs that PEFT's and OneTrainer's rotations make up; one block is for all."""
    if "boft_R" in shapes:
        count, size = _at(shapes["boft_R"], 1), _at(shapes["boft_R"], 2)
        return None, _product(count, size)
    blocks, packed = _at(shapes.get("oft_R.weight"), 0), _at(shapes.get("oft_R.weight"), 1)
    if blocks is None or packed is None or blocks < 2:
        return None
    return None, blocks * ((1 + isqrt(1 + 8 * packed)) // 2)


def _factor(shapes: Mapping[str, Shape], name: str, *, tucker: bool) -> Widths | None:
    if name in shapes:
        return _at(shapes[name], 0), _at(shapes[name], 1)
    left, right = shapes.get(f"{name}_a"), shapes.get(f"{name}_b")
    if left is None or right is None:
        return None
    return _at(left, 1 if tucker else 0), _at(right, 1)


def _whole(shapes: Mapping[str, Shape]) -> Widths:
    shape = next((shapes[part] for part in _WHOLE if part in shapes), None)
    return _at(shape, 0), _at(shape, 1)


def _at(shape: Shape | None, place: int) -> int | None:
    return shape[place] if shape is not None and len(shape) > place else None


def _product(size: int | None, other: int | None) -> int | None:
    return None if size is None or other is None else size * other
