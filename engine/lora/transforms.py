"""Transforms of a layer's weight: (IA)3, GLoRA, DoRA, and weights that are replaced."""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType, FileSlice
from engine.api.lora_rules import DoraRule, LoraRules
from engine.lora.differences import tucker
from engine.lora.tensors import LayerTensors, LoraTensor
from engine.weights.patched import Difference, LowRankDifference, Patch, Transform, fits
from engine.weights.products import product
from engine.weights.sources import Description, Place

# Added to norms, as LyCORIS and ComfyUI do, so that a row of zeros stays one.
_EPSILON = np.finfo(np.float32).eps


@dataclass(frozen=True, slots=True)
class ScaledAxis(Transform):
    """(IA)3: each output, or each input, times `1 + strength * (factor - neutral)`.

    Liu et al. 2022, section 3.3. The `neutral` factor changes nothing: it is 0 in LyCORIS's files,
    1 in PEFT's.
    """

    factors: LoraTensor
    on_input: bool
    neutral: float
    strength: float

    @property
    def of_results(self) -> bool:
        """True if the layer's results are scaled, with its bias: PEFT's factors of outputs."""
        return self.neutral == 1 and not self.on_input

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the axis has as many numbers as there are factors."""
        axis = int(self.on_input)
        return len(shape) > axis and shape[axis] == self.factors.elements

    def apply(self, weight: Array) -> Array:
        """Return the scaled weight."""
        change = self.factors.read().reshape(-1) - np.float32(self.neutral)
        weight *= along(1 + np.float32(self.strength) * change, int(self.on_input), weight.ndim)
        return weight

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slice of the factors."""
        return self.factors.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the factors, their axis, and the strength."""
        facts = self.on_input, self.neutral, float(self.strength).hex()
        return ["scaled axis", self.factors.describe(place), *facts]


@dataclass(frozen=True, slots=True)
class InputProduct(Transform):
    """GLoRA: the weight, plus `strength * (weight @ change)` over its inputs, plus `added`.

    Chavan et al. 2023, equation 10. `change` is a low-rank matrix [inputs, inputs] at strength 1;
    `flat`: a kernel's inputs are all its numbers for one output, as in old LyCORIS.
    """

    change: LowRankDifference
    added: Difference
    flat: bool
    strength: float

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the weight has these inputs, and `added` its number of elements."""
        inputs = math.prod(shape[1:]) if self.flat else math.prod(shape[1:2])
        return inputs == self.change.up.shape[0] and math.prod(shape) == self.added.elements

    def apply(self, weight: Array) -> Array:
        """Return the changed weight."""
        rows, inputs = weight.shape[0], self.change.up.shape[0]
        # [rows, inputs, places of the kernel] as one matrix with a row for each row and place.
        stacked = weight.reshape(rows, inputs, -1).transpose(0, 2, 1).reshape(-1, inputs)
        up, down = self.change.up.read_as(DType.F32), self.change.down.read_as(DType.F32)
        change = product(product(stacked, up), down)
        change *= np.float32(self.strength)
        turned = change.reshape(rows, -1, inputs).transpose(0, 2, 1)
        weight += turned.reshape(weight.shape)
        weight += self.added.read_flat(0, self.added.elements).reshape(weight.shape)
        return weight

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slices of all factors."""
        return *self.change.parts(), *self.added.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of all factors, and the strength."""
        factors = self.change.describe(place), self.added.describe(place)
        return ["input product", *factors, self.flat, float(self.strength).hex()]


@dataclass(frozen=True, slots=True)
class Replacement(Transform):
    """Other numbers instead of the weight's, whatever the strength, as in ComfyUI and InvokeAI."""

    numbers: LoraTensor

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True for weights with as many elements."""
        return math.prod(shape) == self.numbers.elements

    def apply(self, weight: Array) -> Array:
        """Return the other numbers."""
        return self.numbers.read().reshape(weight.shape)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slice of the numbers."""
        return self.numbers.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the numbers."""
        return ["replacement", self.numbers.describe(place)]


@dataclass(frozen=True, slots=True)
class Decomposition(Transform):
    """DoRA: the changed weight, its rows or columns scaled to trained magnitudes.

    Liu et al. 2024, equation 5. `change` is the change of direction: at strength 1, or under
    `DoraRule.INSIDE` at the request's strength. `of_outputs`: the magnitudes are certainly those of
    outputs.
    """

    change: Patch
    magnitudes: LoraTensor
    rule: DoraRule
    of_outputs: bool
    strength: float

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the change fits, and a magnitude belongs to each output or input."""
        placed = len(shape) > 1 and self.magnitudes.elements in shape[:2]
        return placed and fits(self.change, shape)

    def apply(self, weight: Array) -> Array:
        """Return the decomposed weight."""
        if isinstance(self.change, Transform):
            changed = self.change.apply(weight.copy())
        else:
            changed = weight + self.change.read_flat(0, weight.size).reshape(weight.shape)
        axis = self._axis(weight.shape)
        magnitudes = along(self.magnitudes.read().reshape(-1), axis, weight.ndim)
        if self.rule is DoraRule.INPUTS:
            norms = _norms(changed, 1)
        elif self.rule is DoraRule.UNCHANGED and axis == 0:
            norms = _norms(weight, 0)
        else:
            norms = _norms(changed, axis)
        changed *= magnitudes / (norms + _EPSILON)
        if self.rule is DoraRule.INSIDE or self.strength == 1:
            return changed
        changed -= weight
        changed *= np.float32(self.strength)
        changed += weight
        return changed

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slices of the change and of the magnitudes."""
        return *self.change.parts(), *self.magnitudes.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the change and the magnitudes, the rule and the strength."""
        facts = self.change.describe(place), self.magnitudes.describe(place)
        rule = self.rule.value, self.of_outputs, float(self.strength).hex()
        return ["decomposition", *facts, *rule]

    def _axis(self, shape: tuple[int, ...]) -> int:
        """Return 0 if the magnitudes are those of outputs, 1 for inputs.

        Outputs have them on the first axis: [out, 1, ...] or [out]. PEFT stores those of kernels as
        [1, out, 1, 1], which is also the shape of as many inputs' magnitudes.
        """
        stored, count = self.magnitudes.shape, self.magnitudes.elements
        pefts = self.of_outputs or self.rule is DoraRule.INSIDE
        of_kernel = pefts and len(stored) > 2
        if stored[:1] == shape[:1] or (of_kernel and count == shape[0]):
            return 0
        return 1 if count == shape[1] else 0


def along(values: Array, axis: int, axes: int) -> Array:
    """Return a vector as an array of `axes` axes, of which `axis` has its numbers."""
    return values.reshape([-1 if number == axis else 1 for number in range(axes)])


def _norms(weight: Array, axis: int) -> Array:
    """Return the Euclidean norm of the weight at each place of an axis, as an array that fits."""
    others = tuple(number for number in range(weight.ndim) if number != axis)
    return np.sqrt(np.square(weight).sum(axis=others, keepdims=True))


def scaled_axis(tensors: LayerTensors, strength: float) -> ScaledAxis:
    """Return the transform of (IA)3 in LyCORIS's form."""
    on_input = bool(tensors.number("on_input"))
    return ScaledAxis(tensors["weight"], on_input, 0.0, strength)


def peft_scaled_axis(
    tensors: LayerTensors, strength: float, shape: tuple[int, ...] | None
) -> ScaledAxis:
    """Return the transform of (IA)3 in PEFT's form.

    Factors of outputs are [out, 1], those of inputs [1, in]. A kernel's are [1, n, 1, 1] for both,
    so that the weight's shape decides; they are taken for those of outputs if both fit.
    """
    factors = tensors["ia3_l"]
    on_input = factors.shape[:1] == (1,)
    if len(factors.shape) > 2 and shape is not None:
        on_input = factors.elements != shape[0]
    return ScaledAxis(factors, on_input, 1.0, strength)


def input_product(
    tensors: LayerTensors, strength: float, rules: LoraRules, shape: tuple[int, ...] | None
) -> InputProduct:
    """Return the transform of GLoRA, in LyCORIS's present form or its old one.

    At present a1 [in, rank], a2 [rank, in], b1 [out, rank], b2 [rank, in ...]; of old a1 and b1
    were the second factors: a2 [in, rank], a1 [rank, in], b2 [out, rank], b1 [rank, in].
    """
    a1, a2, b1, b2 = (tensors.matrix(f"{part}.weight") for part in ("a1", "a2", "b1", "b2"))
    old = b2.shape[1] == b1.shape[0] == a1.shape[0] == a2.shape[1]
    new = b2.shape[0] == b1.shape[1] == a1.shape[1] == a2.shape[0]
    if not old and not new:
        raise tensors.refused("a1.weight", "a2.weight", "b1.weight", "b2.weight")
    # Ranks that equal the width leave it open; ComfyUI takes the old form for square weights.
    square = shape is not None and shape[1:2] == shape[:1] == a2.shape[:1]
    first = old and (not new or square)
    rank = a1.shape[0] if first else a2.shape[0]
    scale = strength * (tensors.scale(rank) if rules.glora_alpha else 1.0)
    if first:
        change = LowRankDifference(a2, a1, 1.0)
        return InputProduct(change, LowRankDifference(b2, b1, scale), flat=True, strength=scale)
    down = tucker(tensors["bm.weight"], b2) if "bm.weight" in tensors else b2
    change = LowRankDifference(a1, a2, 1.0)
    return InputProduct(change, LowRankDifference(b1, down, scale), flat=False, strength=scale)
