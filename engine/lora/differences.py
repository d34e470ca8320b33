"""Differences of a layer's weight: low-rank products, Hadamard and Kronecker products of those.

A factor that is the product of two is a `LowRankDifference` of strength 1.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from backends.base import Array, FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.tensors import LayerTensors, LoraTensor
from engine.weights.derived import DerivedWeight
from engine.weights.patched import Difference, FullDifference, LowRankDifference
from engine.weights.sources import Description, Place, WeightSource


class HadamardDifference(msgspec.Struct, frozen=True):
    """The difference `strength * left * right`, element by element (LoHa: FedPara, equation 5)."""

    left: Difference
    right: Difference
    strength: float

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.left.elements

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        product = self.left.read_flat(start, stop)
        product *= self.right.read_flat(start, stop)
        product *= np.float32(self.strength)
        return product

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of both factors."""
        return *self.left.parts(), *self.right.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of both factors, and the strength."""
        factors = self.left.describe(place), self.right.describe(place)
        return ["hadamard", *factors, float(self.strength).hex()]


class KroneckerDifference(msgspec.Struct, frozen=True):
    """The difference `strength * kron(left, right)` (LoKr), of matrices.

    `left` has `left_rows` rows, `right` has `right_rows`. A kernel counts as a matrix, with the
    axes after the first as columns: row-major, its Kronecker product has the same numbers.
    """

    left: Difference
    right: Difference
    left_rows: int
    right_rows: int
    strength: float

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.left.elements * self.right.elements

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        block = self.right.elements * (self.left.elements // self.left_rows)
        first, last = start // block, -(-stop // block)
        columns = self.left.elements // self.left_rows
        left = self.left.read_flat(first * columns, last * columns).reshape(-1, 1, columns, 1)
        left *= np.float32(self.strength)
        right = self.right.read_flat(0, self.right.elements).reshape(1, self.right_rows, 1, -1)
        return (left * right).reshape(-1)[start - first * block : stop - first * block]

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of both factors."""
        return *self.left.parts(), *self.right.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of both factors, their rows, and the strength."""
        factors = self.left.describe(place), self.right.describe(place)
        rows = self.left_rows, self.right_rows
        return ["kronecker", *factors, *rows, float(self.strength).hex()]


class SparseDifference(msgspec.Struct, frozen=True):
    """The difference `change + strength * values`, of which `values` are at a few places.

    LyCORIS extracts it from two checkpoints: what a low-rank product leaves of the difference
    (`lycoris/utils/__init__.py`, `extract_diff`, `use_bias`). `places` [2, count] are rows and
    columns of the weight as a matrix with `columns` columns.
    """

    change: Difference
    places: LoraTensor
    values: LoraTensor
    columns: int
    strength: float

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.change.elements

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        numbers = self.change.read_flat(start, stop)
        rows, columns = self.places.read().astype(np.int64)
        flat = rows * self.columns + columns
        inner = (rows >= 0) & (columns >= 0) & (columns < self.columns) & (flat < self.elements)
        if not inner.all():
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                sentence(
                    "The LoRA {path} does not work: {places} lies outside of the weight.",
                    path=self.places.slice.path.name,
                    places=self.places.name,
                ),
                sentence("The file is damaged: download it again, or use another."),
            )
        inside = (flat >= start) & (flat < stop)
        np.add.at(numbers, flat[inside] - start, self.values.read()[inside] * self._factor)
        return numbers

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the change, the places and the values."""
        return *self.change.parts(), *self.places.parts(), *self.values.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the change, the places and the values, and the strength."""
        facts = (array.describe(place) for array in (self.change, self.places, self.values))
        return ["sparse", *facts, self.columns, float(self.strength).hex()]

    @property
    def _factor(self) -> np.float32:
        return np.float32(self.strength)


def with_sparse(tensors: LayerTensors, change: Difference, strength: float) -> SparseDifference:
    """Return a low-rank difference with the sparse one that the layer has beside it."""
    places, values, size = (tensors[f"bias_{part}"] for part in ("indices", "values", "size"))
    # The size is stored as in a matrix of the whole weight.
    shape = size.read().astype(np.int64).reshape(-1)
    fitting = len(shape) == 2 and int(shape[0] * shape[1]) == change.elements
    if not fitting or places.shape != (2, values.elements) or values.elements == 0:
        raise tensors.refused("bias_indices", "bias_values", "bias_size")
    rank = tensors["lora_down.weight"].shape[0]
    return SparseDifference(change, places, values, int(shape[1]), strength * tensors.scale(rank))


def embedded(tensors: LayerTensors, strength: float) -> LowRankDifference:
    """Return the difference of PEFT's LoRA on a table of tokens: A [rank, tokens], B [width, rank].

    The table is [tokens, width], so that the difference is the product's transpose.
    """
    a, b = tensors.matrix("lora_embedding_A"), tensors.matrix("lora_embedding_B")
    if b.shape[1] != a.shape[0]:
        raise tensors.refused("lora_embedding_A", "lora_embedding_B")
    up = DerivedWeight((a,), a.shape[::-1], _transposed, "transposed")
    down = DerivedWeight((b,), b.shape[::-1], _transposed, "transposed")
    return LowRankDifference(up, down, strength * tensors.scale(a.shape[0]))


def low_rank(tensors: LayerTensors, strength: float, rank: int | None = None) -> LowRankDifference:
    """Return the difference of LoRA and LoCon, of which `rank` takes only the first ranks.

    `lora_mid.weight` [rank, rank, ...] makes it a Tucker decomposition: its first axis goes with
    `lora_up.weight`, its second with `lora_down.weight` [rank, in, 1, 1].
    """
    up, down = tensors.matrix("lora_up.weight"), tensors["lora_down.weight"]
    ranks, factors = up.shape[1], ("lora_up.weight", "lora_down.weight")
    if "lora_mid.weight" in tensors:
        mid = tensors["lora_mid.weight"]
        if mid.shape[:2] != (ranks, *down.shape[:1]):
            raise tensors.refused("lora_mid.weight", *factors)
        return _cut(up, tucker(mid, tensors.matrix("lora_down.weight")), tensors, strength, rank)
    if down.shape[:1] != (ranks,):
        raise tensors.refused(*factors)
    return _cut(up, down, tensors, strength, rank)


def _cut(
    up: WeightSource,
    down: WeightSource,
    tensors: LayerTensors,
    strength: float,
    rank: int | None,
) -> LowRankDifference:
    """Return the difference at alpha / all ranks, with the first `rank` of them."""
    total = strength * tensors.scale(down.shape[0]) if rank != 0 else 0.0
    if not rank or rank >= down.shape[0]:
        return LowRankDifference(up, down, total)

    def first(parts: Sequence[Array], out: Array) -> None:
        out[...] = parts[0][:, :rank]

    columns = DerivedWeight((up,), (up.shape[0], rank), first, f"columns 0 to {rank}")
    return LowRankDifference(columns, down.rows(0, rank), total)


def hadamard(tensors: LayerTensors, strength: float) -> HadamardDifference:
    """Return the difference of LoHa; `hada_t1` and `hada_t2` make its factors Tucker's."""
    left = _factored(tensors, "hada_w1_a", "hada_w1_b", "hada_t1")
    right = _factored(tensors, "hada_w2_a", "hada_w2_b", "hada_t2")
    if left.elements != right.elements:
        raise tensors.refused("hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b")
    scale = tensors.scale(tensors["hada_w1_b"].shape[0])
    return HadamardDifference(left, right, strength * scale)


def _factored(tensors: LayerTensors, a: str, b: str, core: str) -> LowRankDifference:
    """Return the product of two tensors, or with `core` that of Tucker.

    Without it they are [rows, rank] and [rank, columns]; with it [rank, rows], [rank, columns], and
    the core [rank, rank, ...].
    """
    up, down = tensors.matrix(a), tensors.matrix(b)
    if core not in tensors:
        if up.shape[1] != down.shape[0]:
            raise tensors.refused(a, b)
        return LowRankDifference(up, down, 1.0)
    middle = tensors[core]
    if middle.shape[:2] != (up.shape[0], down.shape[0]):
        raise tensors.refused(core, a, b)
    turned = DerivedWeight((up,), up.shape[::-1], _transposed, "transposed")
    return LowRankDifference(turned, tucker(middle, down), 1.0)


def kronecker(tensors: LayerTensors, strength: float) -> KroneckerDifference:
    """Return the difference of LoKr, each of whose factors is whole or a product.

    Its scale is alpha / rank of the second factor, else of the first; 1 if both are whole.
    """
    left, right = _kron_factor(tensors, 1), _kron_factor(tensors, 2)
    ranks = [tensors[part].shape[0] for part in _KRON_RANKS if part in tensors]
    # Alpha is not read if both are whole: AI-toolkit's is beyond float16, and stored as infinity.
    scale = tensors.scale(ranks[0]) if ranks else tensors.number("scalar")
    rows = _rows(tensors, 1), _rows(tensors, 2)
    return KroneckerDifference(left, right, *rows, strength * (1.0 if scale is None else scale))


_KRON_RANKS = "lokr_w2_b", "lokr_w1_b"


def _kron_factor(tensors: LayerTensors, number: int) -> Difference:
    whole = f"lokr_w{number}"
    if whole in tensors:
        return FullDifference(tensors.matrix(whole), 1.0)
    return _factored(tensors, f"{whole}_a", f"{whole}_b", f"lokr_t{number}")


def _rows(tensors: LayerTensors, number: int) -> int:
    whole = f"lokr_w{number}"
    if whole in tensors:
        return tensors[whole].shape[0]
    # Tucker's factors have the rank first.
    return tensors.matrix(f"{whole}_a").shape[1 if f"lokr_t{number}" in tensors else 0]


def _transposed(parts: Sequence[Array], out: Array) -> None:
    out[...] = parts[0].T


def tucker(core: WeightSource, down: WeightSource) -> DerivedWeight:
    """Return `core` [rank, rank, ...] with its second axis multiplied by `down` [rank, columns]."""
    rank, columns, rest = core.shape[0], down.shape[1], core.shape[2:]

    def contract(parts: Sequence[Array], out: Array) -> None:
        middle = parts[0].reshape(rank, down.shape[0], math.prod(rest))
        product = np.matmul(parts[1].T, middle)
        out[...] = product.reshape(out.shape)

    return DerivedWeight((core, down), (rank, columns, *rest), contract, "tucker")
