"""One small layer of a LoRA file for each type of change and kind of layer, with its base weight.

Numbers come from a formula, so that they are the same under every version of NumPy.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from backends.base import Array

LINEAR, SMALL, KERNEL = (8, 6), (8, 6, 1, 1), (8, 6, 3, 3)
STRENGTHS = 1.0, 0.5, -1.5
# The tools whose own functions were run; peers that are packages are run by the oracle tests.
A1111, COMFY, INVOKE = "a1111", "comfy", "invoke"
ALL, NOT_COMFY, NOT_INVOKE = (A1111, COMFY, INVOKE), (A1111, INVOKE), (A1111, COMFY)


@dataclass(frozen=True)
class Case:
    """A change to a weight of `shape`, and the tools that can make it."""

    name: str
    shape: tuple[int, ...]
    tensors: Mapping[str, Array]
    tools: tuple[str, ...]

    @property
    def base(self) -> Array:
        """The weight without the change."""
        return numbers("base", *self.shape)


def numbers(name: str, *shape: int) -> Array:
    """Return numbers in [-1, 1] that depend on the name: float32."""
    start = sum(ord(letter) * (place + 3) for place, letter in enumerate(name))
    count = np.arange(math.prod(shape), dtype=np.float64)
    return np.sin(count * 1.618 + start * 0.7).astype(np.float32).reshape(shape)


def _case(
    name: str, shape: tuple[int, ...], tools: tuple[str, ...], **parts: tuple[int, ...] | float
) -> Case:
    """A case whose tensors have these shapes, or are single numbers; `__` stands for a dot."""
    tensors: dict[str, Array] = {}
    for part, given in parts.items():
        key = part.replace("__", ".")
        single = isinstance(given, float | int)
        tensors[key] = np.asarray(given, np.float32) if single else numbers(key, *given)
    for part in {"dora_scale", "lora_magnitude_vector"} & tensors.keys():
        tensors[part] = 2 + tensors[part]
    return Case(name, shape, tensors, tools)


def _low_rank(
    name: str, shape: tuple[int, ...], tools: tuple[str, ...], **parts: tuple[int, ...] | float
) -> Case:
    """A low-rank change of rank 3, with further parts."""
    ones = (1,) * (len(shape) - 2)
    up, down = (shape[0], 3, *ones), (3, *shape[1:])
    return _case(name, shape, tools, lora_up__weight=up, lora_down__weight=down, alpha=1.5, **parts)


_HADA = {"hada_w1_a": (8, 3), "hada_w2_a": (8, 3), "hada_w1_b": (3, 6), "hada_w2_b": (3, 6)}
_WIDE = _HADA | {"hada_w1_b": (3, 54), "hada_w2_b": (3, 54)}
_TUCKER = {
    "hada_t1": (3, 3, 3, 3), "hada_w1_a": (3, 8), "hada_w1_b": (3, 6),
    "hada_t2": (3, 3, 3, 3), "hada_w2_a": (3, 8), "hada_w2_b": (3, 6),
}  # fmt: skip
_BLOCKS, _BUTTERFLY = (4, 3, 3), (2, 2, 4, 4)
_TWELVE, _TWELVE_KERNEL, _EIGHT = (12, 6), (12, 6, 3, 3), (12, 8)

CASES = (
    _low_rank("lora linear", LINEAR, ALL),
    _low_rank("lora 1x1", SMALL, ALL),
    _low_rank("lora 3x3", KERNEL, ALL),
    _case("lora no alpha", LINEAR, ALL, lora_up__weight=(8, 3), lora_down__weight=(3, 6)),
    _case("lora kernel on linear", LINEAR, ALL,
          lora_up__weight=(8, 3, 1, 1), lora_down__weight=(3, 6, 1, 1), alpha=2.0),
    _case("lora matrix on 1x1", SMALL, ALL, lora_up__weight=(8, 3), lora_down__weight=(3, 6)),
    _case("lora tucker", KERNEL, ALL, lora_up__weight=(8, 3, 1, 1),
          lora_down__weight=(3, 6, 1, 1), lora_mid__weight=(3, 3, 3, 3), alpha=2.0),
    _case("loha linear", LINEAR, ALL, **_HADA, alpha=2.0),
    _case("loha 3x3", KERNEL, ALL, **_WIDE, alpha=2.0),
    _case("loha tucker", KERNEL, ALL, **_TUCKER, alpha=2.0),
    _case("lokr whole", LINEAR, ALL, lokr_w1=(2, 3), lokr_w2=(4, 2), alpha=7.0),
    _case("lokr second factored", LINEAR, ALL,
          lokr_w1=(2, 3), lokr_w2_a=(4, 2), lokr_w2_b=(2, 2), alpha=1.0),
    _case("lokr first factored", LINEAR, ALL,
          lokr_w1_a=(2, 2), lokr_w1_b=(2, 3), lokr_w2=(4, 2), alpha=1.0),
    _case("lokr both factored", LINEAR, ALL,
          lokr_w1_a=(2, 2), lokr_w1_b=(2, 3), lokr_w2_a=(4, 2), lokr_w2_b=(2, 2), alpha=1.0),
    _case("lokr 3x3 whole", KERNEL, ALL, lokr_w1=(2, 3), lokr_w2=(4, 2, 3, 3), alpha=1.0),
    _case("lokr 3x3 factored", KERNEL, ALL,
          lokr_w1=(2, 3), lokr_w2_a=(4, 2), lokr_w2_b=(2, 18), alpha=1.0),
    # ComfyUI's fails with Tucker's factor, and leaves the weight as it is.
    _case("lokr tucker", KERNEL, NOT_COMFY,
          lokr_w1=(2, 3), lokr_t2=(2, 2, 3, 3), lokr_w2_a=(2, 4), lokr_w2_b=(2, 2), alpha=1.0),
    _case("ia3 outputs", LINEAR, NOT_COMFY, weight=(8,), on_input=0.0),
    _case("ia3 inputs", LINEAR, NOT_COMFY, weight=(6,), on_input=1.0),
    _case("ia3 3x3 outputs", KERNEL, (), weight=(1, 8, 1, 1), on_input=0.0),
    _case("ia3 3x3 inputs", KERNEL, (), weight=(1, 6, 1, 1), on_input=1.0),
    _case("oft linear", _TWELVE, NOT_INVOKE, oft_blocks=_BLOCKS, alpha=0.0),
    _case("oft 3x3", _TWELVE_KERNEL, NOT_INVOKE, oft_blocks=_BLOCKS, alpha=0.0),
    _case("oft limited", _TWELVE, NOT_INVOKE, oft_blocks=_BLOCKS, alpha=0.05),
    _case("oft rescaled", _TWELVE, NOT_INVOKE, oft_blocks=_BLOCKS, alpha=0.0, rescale=(12, 1)),
    _case("oft direct", _TWELVE, (A1111,), oft_diag=_BLOCKS),
    _case("boft linear", LINEAR, NOT_INVOKE, oft_blocks=_BUTTERFLY, alpha=0.0),
    _case("boft 3x3", KERNEL, NOT_INVOKE, oft_blocks=_BUTTERFLY, alpha=0.0),
    _case("boft limited", LINEAR, NOT_INVOKE, oft_blocks=_BUTTERFLY, alpha=0.05),
    _case("boft rescaled", LINEAR, NOT_INVOKE, oft_blocks=_BUTTERFLY, alpha=0.0, rescale=(8, 1)),
    _case("oft of inputs", LINEAR, (), oft_R__weight=(2, 3)),
    _case("oft of inputs, shared", LINEAR, (), oft_R__weight=(1, 3)),
    _case("oft of inputs 3x3", KERNEL, (), oft_R__weight=(18, 3)),
    _case("oft of inputs, scaled", LINEAR, (), oft_R__weight=(2, 3), oft_R__scaled_oft=1.0),
    _case("oft of inputs 3x3, scaled", KERNEL, (),
          oft_R__weight=(1, 36), oft_R__scaled_oft=1.0),
    _case("boft of inputs", LINEAR, (), boft_R=(1, 2, 3, 3), boft_s=(8, 1)),
    _case("boft of inputs, twice", _EIGHT, (), boft_R=(2, 4, 2, 2), boft_s=(12, 1)),
    _case("boft of inputs, three times", (6, 32), (), boft_R=(3, 8, 4, 4), boft_s=(6, 1)),
    _case("boft of inputs 3x3", (6, 4, 3, 3), (), boft_R=(2, 6, 6, 6), boft_s=(1, 6)),
    _case("lora of tokens", LINEAR, (), lora_embedding_A=(3, 8), lora_embedding_B=(6, 3)),
    _case("glora linear", LINEAR, (COMFY,), a1__weight=(6, 2), a2__weight=(2, 6),
          b1__weight=(8, 2), b2__weight=(2, 6), alpha=1.0),
    _case("glora 3x3", KERNEL, (COMFY,), a1__weight=(6, 2, 1, 1), a2__weight=(2, 6, 1, 1),
          b1__weight=(8, 2, 1, 1), b2__weight=(2, 6, 3, 3), alpha=1.0),
    _case("glora old", LINEAR, NOT_INVOKE, a1__weight=(2, 6), a2__weight=(6, 2),
          b1__weight=(2, 6), b2__weight=(8, 2), alpha=1.0),
    _case("full linear", LINEAR, NOT_COMFY, diff=LINEAR),
    _case("full 3x3", KERNEL, NOT_COMFY, diff=KERNEL),
    _case("norm", (8,), NOT_COMFY, w_norm=(8,), b_norm=(8,)),
    _low_rank("dora outputs", LINEAR, ALL, dora_scale=(8, 1)),
    _low_rank("dora inputs", LINEAR, ALL, dora_scale=(1, 6)),
    _low_rank("dora 3x3 outputs", KERNEL, ALL, dora_scale=(8, 1, 1, 1)),
    _low_rank("dora 3x3 inputs", KERNEL, ALL, dora_scale=(1, 6, 1, 1)),
    _low_rank("dora of peft", LINEAR, (), lora_magnitude_vector=(8,)),
    _low_rank("dora of peft 3x3", KERNEL, (), lora_magnitude_vector=(1, 8, 1, 1)),
    _case("dora loha", LINEAR, NOT_INVOKE, **_HADA, alpha=2.0, dora_scale=(8, 1)),
    _case("dora lokr", LINEAR, NOT_INVOKE,
          lokr_w1=(2, 3), lokr_w2=(4, 2), dora_scale=(1, 6)),
)  # fmt: skip
