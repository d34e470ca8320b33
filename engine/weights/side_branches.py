"""Side branches: low-rank products beside the layers of a network, instead of merged weights.

A branch adds `up(strength * down(x))` to a layer's output (LoRA: Hu et al. 2021, figure 1). Factors
and strengths are inputs of the graph, so that one compiled network serves every LoRA of similar
ranks at every strength, and strengths may change from one run to the next.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice, Session, TensorSpec
from engine.checkpoints.index import Stamp
from engine.weights.lost_files import lost_files_named
from engine.weights.patched import LowRankDifference
from engine.weights.sources import Description

# Ranks are filled up with zeros to a multiple of this.
RANK_STEP = 16
STRENGTHS = "lora.strengths"
# The ends of the names of a layer's inputs. The factor `down` is [in, rank] for a linear layer,
# [rank, in, height, width] for a convolution on planes, [rank, height, width, in] with channels
# last; `up` is [rank, out], or [out, rank, 1, 1] on planes.
DOWN, DOWN_PLANES, DOWN_LAST = ".lora_down", ".lora_down_planes", ".lora_down_last"
UP, UP_PLANES = ".lora_up", ".lora_up_planes"

# The factors that loaded networks have pinned, by all that they depend on but strengths. The next
# job with the same files takes them, so that a new strength needs neither time nor memory for them.
_in_use: WeakValueDictionary[bytes, Array] = WeakValueDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class SideBranches:
    """The branches of a network: the factors of each layer, and the places of each LoRA's ranks.

    `layers` has the factors by the layer's canonical name, each with the number of its LoRA.
    `ranks` has the highest rank of each LoRA: its factors take that many places, after those of the
    LoRAs before it. The differences' own strength, such as alpha / rank, is part of the factors;
    the strength of each LoRA is given to each run.
    """

    layers: Mapping[str, tuple[tuple[int, LowRankDifference], ...]]
    ranks: tuple[int, ...]
    # The factors as inputs of a graph, made once.
    _made: dict[str, Array] = field(default_factory=dict[str, Array], init=False, repr=False)

    @property
    def rank(self) -> int:
        """The rank of every branch, which all layers share."""
        return -(-sum(self.ranks) // RANK_STEP) * RANK_STEP

    @property
    def nbytes(self) -> int:
        """About the bytes of all factors in float32."""
        return sum(
            4 * self.rank * (branch.up.shape[0] + branch.down.elements // branch.down.shape[0])
            for parts in self.layers.values()
            for _, branch in parts[:1]
        )

    def strengths(self, of_loras: Sequence[float]) -> Array:
        """Return the graph's input of that name: the strength at each rank, float32 [rank]."""
        found = np.zeros(self.rank, np.float32)
        for start, rank, strength in zip(self._starts, self.ranks, of_loras, strict=True):
            found[start : start + rank] = strength
        return found

    def factors(self, inputs: Sequence[TensorSpec]) -> dict[str, Array]:
        """Return those inputs of a graph that are factors, by name; the same arrays each time.

        Equal ones that another network or job has in use are the same arrays, too. Raises
        EngineError for a file that is gone or cut short.
        """
        stamp = cache(_stamp)
        branches = [branch for parts in self.layers.values() for _, branch in parts]
        with lost_files_named(
            [*(branch.up for branch in branches), *(branch.down for branch in branches)]
        ):
            for spec in inputs:
                layer, dot, part = spec.name.rpartition(".")
                if layer not in self.layers or spec.name in self._made:
                    continue
                key = self._key(layer, dot + part, spec, stamp)
                factor = _in_use.get(key)
                if factor is None:
                    factor = np.ascontiguousarray(self._factor(layer, dot + part, spec))
                    _in_use[key] = factor
                self._made[spec.name] = factor
        return {spec.name: self._made[spec.name] for spec in inputs if spec.name in self._made}

    @property
    def _starts(self) -> list[int]:
        return [sum(self.ranks[:number]) for number in range(len(self.ranks))]

    def _key(
        self, layer: str, part: str, spec: TensorSpec, stamp: Callable[[Path], Stamp]
    ) -> bytes:
        """Return a digest of all that a factor depends on."""

        def place(of: FileSlice) -> Description:
            return [str(of.path), stamp(of.path), of.offset, of.dtype.value, list(of.shape)]

        parts = [
            [self._starts[number], branch.describe(place)] for number, branch in self.layers[layer]
        ]
        described = [part, [str(side) for side in spec.shape], self.rank, parts]
        return hashlib.sha256(msgspec.json.encode(described)).digest()

    def _factor(self, layer: str, part: str, spec: TensorSpec) -> Array:
        """Return a factor in the shape of its input; files may store a 1x1 kernel as a matrix."""
        shape = tuple(map(int, spec.shape))
        if part in (UP, UP_PLANES):
            return self._up(layer) if part == UP else self._up(layer).T.reshape(shape)
        whole = self._down(layer)
        if part == DOWN:
            return whole.T
        if part == DOWN_PLANES:
            return whole.reshape(shape)
        rank, height, width, inner = shape
        return whole.reshape(rank, inner, height, width).transpose(0, 2, 3, 1)

    def _up(self, layer: str) -> Array:
        """Return the factors `up`, times their own strengths: [rank, out]."""
        parts = self.layers[layer]
        found = np.zeros((self.rank, parts[0][1].up.shape[0]), np.float32)
        for number, branch in parts:
            start, rank = self._starts[number], branch.down.shape[0]
            up = branch.up.read_as(DType.F32).reshape(-1, rank)
            found[start : start + rank] = up.T * np.float32(branch.strength)
        return found

    def _down(self, layer: str) -> Array:
        """Return the factors `down`: [rank, in * ...]."""
        parts = self.layers[layer]
        columns = parts[0][1].down.elements // parts[0][1].down.shape[0]
        found = np.zeros((self.rank, columns), np.float32)
        for number, branch in parts:
            start, down = self._starts[number], branch.down.read_as(DType.F32)
            found[start : start + len(down)] = down.reshape(-1, columns)
        return found


def _stamp(path: Path) -> Stamp:
    return Stamp.of(path.stat())


def pin_branches(session: Session, branches: SideBranches | None) -> None:
    """Pin the factors of a network's branches, if it has some, in the session that runs it."""
    if branches is not None:
        for name, factor in branches.factors(session.inputs).items():
            session.pin(name, factor)


def has_branches(branches: SideBranches | None, *layers: str) -> bool:
    """Return True if one of these layers has a branch."""
    return branches is not None and any(layer in branches.layers for layer in layers)
