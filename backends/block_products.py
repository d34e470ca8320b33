"""The nodes of graphs that multiply with matrices in blocks, com.microsoft MatMulNBits.

Zeros that are no integers keep runtimes from their best kernels. They can be a product of their
own, beside one whose zeros are all the same integer m: x W^T = x (s (q - m))^T + sums(x) (s (m -
z))^T, with the sums of x over each block and a number for each block, its offset.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, helper, numpy_helper

OPERATOR = "MatMulNBits"


class BlockMatrix(NamedTuple):
    """A matrix [out, in] in blocks: the names of its weights, the bits and the length of a block.

    `zeros` is empty where all zeros are the middle of the integers.
    """

    integers: str
    scales: str
    zeros: str
    bits: int
    block: int
    shape: tuple[int, int]

    @classmethod
    def of(cls, node: NodeProto) -> "BlockMatrix":
        """Return that of a MatMulNBits node."""
        sizes = {attribute.name: attribute.i for attribute in node.attribute}
        integers, scales, *zeros = node.input[1:]
        given = sizes["bits"], sizes["block_size"], (sizes["N"], sizes["K"])
        return cls(integers, scales, zeros[0] if zeros else "", *given)

    @property
    def sides(self) -> tuple[int, int]:
        """The numbers of rows and of blocks in a row."""
        return self.shape[0], self.shape[1] // self.block


def has_offsets(node: NodeProto) -> bool:
    """Return True for a product with a matrix whose blocks have zeros of their own."""
    return node.op_type == OPERATOR and bool(BlockMatrix.of(node).zeros)


class SharedConstants:
    """Constants of a graph that is written anew, which all of its nodes share."""

    def __init__(self, graph: GraphProto) -> None:
        self._graph, self._names = graph, set[str]()

    def name_of(self, label: str, value: list[int] | np.float32) -> str:
        """Return the name of the constant with this label, which tells its value."""
        name = f"blocks: {label}"
        if name not in self._names:
            self._names.add(name)
            made: NDArray[np.generic] = np.array(value)
            self._graph.initializer.append(numpy_helper.from_array(made, name))
        return name


class BlockSums:
    """The sums of what is multiplied over each block, made once for all products that read it."""

    def __init__(self, constants: SharedConstants) -> None:
        self._constants, self._made = constants, set[str]()

    def of(self, x: str, blocks: BlockMatrix) -> tuple[str, list[NodeProto]]:
        """Return the name of the sums [..., blocks] of x [..., in], and the nodes still missing."""
        sums, make = f"{x}:sums of {blocks.block}", helper.make_node
        if sums in self._made:
            return sums, []
        self._made.add(sums)
        runs = [blocks.sides[1], blocks.block]
        runs = self._constants.name_of(f"runs {runs[0]} {runs[1]}", runs)
        last = self._constants.name_of("last axis", [-1])
        return sums, [
            make("Shape", [x], [f"{sums}:rows"], end=-1),
            make("Concat", [f"{sums}:rows", runs], [f"{sums}:shape"], axis=0),
            make("Reshape", [x, f"{sums}:shape"], [f"{sums}:runs"]),
            make("ReduceSum", [f"{sums}:runs", last], [sums], keepdims=0),
        ]
