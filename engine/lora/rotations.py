"""Rotations of a layer's outputs: OFT and BOFT, of kohya's sd-scripts and LyCORIS."""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, FileSlice
from engine.api.lora_rules import RotationRule
from engine.lora.tensors import LayerTensors, LoraTensor
from engine.lora.transforms import along
from engine.weights.patched import Transform
from engine.weights.products import product
from engine.weights.sources import Description, Place


@dataclass(frozen=True, slots=True)
class Rotation(Transform):
    """Blocks of outputs, each turned by an orthogonal matrix (OFT: Qiu et al. 2023, section 3.2).

    `blocks` [blocks, size, size] are free matrices, each of which gives the rotation
    (I + Q) (I - Q)^-1 of Q = block - block^T; `direct`: they are the rotations themselves, as in
    old LyCORIS. [factors, blocks, size, size] are BOFT's butterflies (Liu et al. 2024), one after
    the other. `limit` bounds the norm of all Q together; 0: no bound. `rescale` has a factor for
    each output.
    """

    blocks: LoraTensor
    rescale: LoraTensor | None
    limit: float
    direct: bool
    rule: RotationRule
    strength: float

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the blocks make up the outputs of the weight."""
        outputs, scales = shape[0] if shape else 0, self.rescale
        return outputs == self._outputs and (scales is None or scales.elements == outputs)

    def apply(self, weight: Array) -> Array:
        """Return the rotated weight."""
        strength = np.float32(self.strength)
        rotations = self._rotations()
        if self.rule is not RotationRule.BLENDED:
            rotations = strength * rotations + (1 - strength) * np.eye(rotations.shape[-1])
        rotations = rotations.astype(np.float32)
        flat = weight.reshape(len(weight), -1)
        if rotations.ndim == 4:
            rotated = _butterflies(rotations, flat)
        else:
            # The rows of a block are combined by its columns, as both trainers do.
            rotated = _turned(rotations.transpose(0, 2, 1), flat)
        rotated = rotated.reshape(weight.shape)
        if self.rescale is not None and (self.rule is not RotationRule.TWICE or self._butterfly):
            rotated = rotated * along(self.rescale.read().reshape(-1), 0, weight.ndim)
        if self.rule is RotationRule.EACH or strength == 1:
            return rotated
        return weight + strength * (rotated - weight)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slices of the blocks and of the factors."""
        return *self.blocks.parts(), *(self.rescale.parts() if self.rescale else ())

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the blocks and the factors, the rule and the strength."""
        rescale = self.rescale.describe(place) if self.rescale else None
        facts = self.limit, self.direct, self.rule.value, float(self.strength).hex()
        return ["rotation", self.blocks.describe(place), rescale, *facts]

    @property
    def _butterfly(self) -> bool:
        return len(self.blocks.shape) == 4

    @property
    def _outputs(self) -> int:
        return math.prod(self.blocks.shape[-3:-1])

    def _rotations(self) -> Array:
        """Return the rotation of each block, in float64: the inverse loses digits in float32."""
        blocks = self.blocks.read().astype(np.float64)
        if self.direct:
            return blocks
        skew = blocks - blocks.swapaxes(-1, -2)
        limit = self.limit * (1 if self.rule is RotationRule.TWICE else self._outputs)
        norm = math.sqrt(float(np.square(skew).sum()))
        if 0 < limit < norm:
            skew *= limit / norm
        identity = np.eye(skew.shape[-1])
        return np.matmul(identity + skew, np.linalg.inv(identity - skew))


def _turned(rotations: Array, weight: Array) -> Array:
    """Return the weight [rows, columns], each block of whose rows is turned by its rotation."""
    blocks = weight.reshape(*rotations.shape[:2], -1)
    turned = [product(rotation, rows) for rotation, rows in zip(rotations, blocks, strict=True)]
    return np.concatenate(turned)


def _butterflies(rotations: Array, weight: Array) -> Array:
    """Return the weight [rows, columns] turned by each factor of BOFT in turn.

    Factor i turns blocks whose rows lie 2^i times half a block apart (LyCORIS, `modules/boft.py`).
    """
    size = rotations.shape[-1]
    for number, blocks in enumerate(rotations):
        stride = 2**number * (size // 2)
        apart = weight.reshape(-1, 2, stride, weight.shape[1]).swapaxes(1, 2)
        turned = _turned(blocks, apart.reshape(weight.shape))
        together = turned.reshape(-1, stride, 2, weight.shape[1]).swapaxes(1, 2)
        weight = together.reshape(weight.shape)
    return weight


def rotation(tensors: LayerTensors, strength: float, rule: RotationRule) -> Rotation:
    """Return the transform of OFT or BOFT, as its blocks' axes say."""
    part = "oft_blocks" if "oft_blocks" in tensors else "oft_diag"
    blocks = tensors[part]
    rescale = tensors.get("rescale")
    square = len(blocks.shape) in (3, 4) and blocks.shape[-1] == blocks.shape[-2]
    if not square or (len(blocks.shape) == 4 and not pairs(blocks.shape)):
        raise tensors.refused(part)
    limit = tensors.number("alpha") or 0.0
    return Rotation(blocks, rescale, limit, part == "oft_diag", rule, strength)


def pairs(shape: tuple[int, ...]) -> bool:
    """Return True if blocks of an even size can be paired by every factor of BOFT."""
    factors, blocks, size, _ = shape
    return size % 2 == 0 and factors > 0 and blocks % 2 ** (factors - 1) == 0
