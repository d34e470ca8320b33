"""Rotations of a layer's inputs: OFT of PEFT and OneTrainer, BOFT of PEFT."""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, FileSlice
from engine.lora.dialects import PEFT_PREFIX
from engine.lora.rotations import pairs
from engine.lora.tensors import LayerTensors, LoraTensor
from engine.lora.transforms import along
from engine.weights.patched import Transform
from engine.weights.products import product
from engine.weights.sources import Description, Place

# A mark whose number means nothing.
_SCALED = "oft_R.scaled_oft"


@dataclass(frozen=True, slots=True)
class InputRotation(Transform):
    """PEFT's and OneTrainer's OFT: blocks of inputs, each turned by an orthogonal matrix.

    `packed` [blocks, size * (size - 1) / 2] has the upper triangles of the skew matrices Q; one
    block serves all inputs. Their rotation is the series of (I + Q) (I - Q)^-1 up to the fourth
    power, PEFT's default (Qiu et al. 2025, section 3.2). `scaled`: Q is divided by
    2 sqrt(size - 1), as OneTrainer's scaled OFT does (`modules/module/oft_utils.py`). The inputs of
    a kernel are all its numbers for one output; `kernels_turn`: they are turned by the rotations
    themselves, as in OneTrainer, not by their inverses, as linear layers are and PEFT's kernels.
    """

    packed: LoraTensor
    scaled: bool
    kernels_turn: bool
    strength: float

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the blocks make up the inputs of the weight."""
        inputs, blocks = math.prod(shape[1:]), self.packed.shape[0]
        return len(shape) > 1 and inputs % self._size == 0 and blocks in (1, inputs // self._size)

    def apply(self, weight: Array) -> Array:
        """Return the rotated weight, blended with the unchanged one by the strength."""
        size = self._size
        rotations, flat = self._rotations(), weight.reshape(len(weight), -1)
        if weight.ndim == 2 or not self.kernels_turn:
            rotations = rotations.transpose(0, 2, 1)
        rotated = np.empty_like(flat)
        for number in range(flat.shape[1] // size):
            inputs = slice(number * size, (number + 1) * size)
            rotation = rotations[number % len(rotations)]
            rotated[:, inputs] = product(flat[:, inputs], rotation)
        rotated -= flat
        rotated *= np.float32(self.strength)
        rotated += flat
        return rotated.reshape(weight.shape)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slice of the blocks."""
        return self.packed.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the blocks, and the strength."""
        facts = self.scaled, self.kernels_turn, float(self.strength).hex()
        return ["input rotation", self.packed.describe(place), *facts]

    @property
    def _size(self) -> int:
        """The inputs of one block; n = size * (size - 1) / 2 numbers are stored for it."""
        return (1 + math.isqrt(1 + 8 * self.packed.shape[1])) // 2

    def _rotations(self) -> Array:
        rows, columns = np.triu_indices(self._size, 1)
        upper = np.zeros((self.packed.shape[0], self._size, self._size))
        upper[:, rows, columns] = self.packed.read()
        if self.scaled:
            upper /= 2 * math.sqrt(self._size - 1)
        skew = upper - upper.swapaxes(1, 2)
        square = skew @ skew
        # 1 + 2 (Q + Q^2 + Q^3) + Q^4
        series = np.eye(self._size) + 2 * (skew + square + square @ skew) + square @ square
        return series.astype(np.float32)


@dataclass(frozen=True, slots=True)
class InputButterflies(Transform):
    """PEFT's BOFT: inputs turned by butterflies of blocks, outputs scaled (Liu et al. 2024).

    `blocks` [factors, blocks, size, size] each give the rotation (I + Q) (I - Q)^-1 of
    Q = (block^T - block) / 2. The blocks of factor i hold the inputs that its permutation puts
    together (`peft/tuners/boft/layer.py`, `block_butterfly_perm`). `scales` has a factor for each
    output. The inputs of a kernel are all its numbers for one output.
    """

    blocks: LoraTensor
    scales: LoraTensor
    strength: float

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the blocks make up the inputs of the weight."""
        inputs = math.prod(self.blocks.shape[1:3])
        return (
            len(shape) > 1 and math.prod(shape[1:]) == inputs and shape[0] == self.scales.elements
        )

    def apply(self, weight: Array) -> Array:
        """Return the rotated weight, blended with the unchanged one by the strength."""
        turned = weight.reshape(len(weight), -1)
        for number, blocks in enumerate(self._rotations()):
            order = self._order(number)
            back = np.argsort(order)
            turned = np.ascontiguousarray(turned[:, back])
            size = blocks.shape[-1]
            for place, block in enumerate(blocks):
                inputs = slice(place * size, (place + 1) * size)
                turned[:, inputs] = product(turned[:, inputs], np.ascontiguousarray(block.T))
            turned = turned[:, order]
        turned = turned.reshape(weight.shape) * along(
            self.scales.read().reshape(-1), 0, weight.ndim
        )
        return weight + np.float32(self.strength) * (turned - weight)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slices of the blocks and the scales."""
        return *self.blocks.parts(), *self.scales.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the blocks and the scales, and the strength."""
        facts = self.blocks.describe(place), self.scales.describe(place)
        return ["input butterflies", *facts, float(self.strength).hex()]

    def _rotations(self) -> Array:
        """Return the rotation of each block, from float64: the inverse loses digits."""
        blocks = self.blocks.read().astype(np.float64)
        skew = (blocks.swapaxes(-1, -2) - blocks) / 2
        identity = np.eye(skew.shape[-1])
        return np.matmul(identity + skew, np.linalg.inv(identity - skew)).astype(np.float32)

    def _order(self, factor: int) -> Array:
        """Return the places of the inputs in a factor's blocks: [inputs].

        Groups of half a block's size go first if their number within 2^factor blocks is even.
        """
        factors, count, size, _ = self.blocks.shape
        if factors == 1:
            return np.arange(count * size)
        groups = np.arange(count * size).reshape(-1, 2**factor, 2, size // 2)
        return groups.swapaxes(1, 2).reshape(-1)


def input_rotation(tensors: LayerTensors, strength: float) -> InputRotation:
    """Return the transform of PEFT's OFT, or OneTrainer's."""
    packed = tensors["oft_R.weight"]
    numbers = packed.shape[1] if len(packed.shape) == 2 else 0
    root = math.isqrt(1 + 8 * numbers)
    if numbers == 0 or packed.shape[0] == 0 or root * root != 1 + 8 * numbers:
        raise tensors.refused("oft_R.weight")
    is_pefts = tensors.module.layer.startswith(PEFT_PREFIX)
    return InputRotation(packed, _SCALED in tensors, not is_pefts, strength)


def input_butterflies(tensors: LayerTensors, strength: float) -> InputButterflies:
    """Return the transform of PEFT's BOFT."""
    blocks, shape = tensors["boft_R"], tensors["boft_R"].shape
    square = len(shape) == 4 and shape[-1] == shape[-2]
    if not square or 0 in shape or (shape[0] > 1 and not pairs(shape)):
        raise tensors.refused("boft_R")
    return InputButterflies(blocks, tensors["boft_s"], strength)
