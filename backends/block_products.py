"""The nodes of graphs that multiply with matrices in blocks, com.microsoft MatMulNBits."""

from typing import NamedTuple

from onnx import NodeProto

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
