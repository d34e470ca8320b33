"""Products with matrices in blocks, in the forms that ONNX Runtime's processor kernels run best.

MatMulNBits packs integers of 4 bits without zeros of their own and multiplies with them as they
are. All others it turns to float32 in each run, slowly (1.31, `MlasDequantizeBlockwise`), so they
take other forms here. On a matrix of 3840 x 10240, these forms beside MatMulNBits's:

- integers of 8 bits, by DequantizeLinear and FusedMatMul: 0.80 of the time with 1280 rows, 0.35
  with 77; the numbers are the same bit for bit;
- 4 bits read in place (`Graph.in_place`), by the same two: 0.85 with 1280 rows, 0.44 with 77;
- 4 bits with zeros, by a MatMulNBits without them, which packs the integers, and a product with
  offsets (`backends.block_products`): 0.84 with 1280 rows, 0.29 with 77.
"""

import msgspec
import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from backends.base import ComputedArray, DType, Graph, WeightRef
from backends.block_products import OPERATOR, BlockMatrix, BlockSums, SharedConstants

_MICROSOFT = "com.microsoft"
# DequantizeLinear takes blocks from this version on, and integers of 4 bits in this format.
_OPSET, _FORMAT = 21, 10
_SMALL = {4: TensorProto.UINT4, 8: TensorProto.UINT8}


def with_quick_blocks(graph: Graph) -> Graph:
    """Return a graph in which products with matrices in blocks have the best forms."""
    model = ModelProto.FromString(graph.model)
    writer = _Writer(model, graph.in_place)
    nodes = [new for node in model.graph.node for new in writer.written(node)]
    if not writer.mapped:
        return graph
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.ir_version = max(model.ir_version, _FORMAT)
    for opset in model.opset_import:
        opset.version = opset.version if opset.domain else max(opset.version, _OPSET)
    return msgspec.structs.replace(
        graph,
        model=model.SerializeToString(),
        weights={**graph.weights, **writer.middles()},
        in_place=graph.in_place | writer.mapped,
    )


class _Writer:
    """Writes products anew; `mapped` are the weights of which nothing may be computed at load."""

    def __init__(self, model: ModelProto, in_place: frozenset[str]) -> None:
        self.mapped: set[str] = set()
        self._graph, self._in_place = model.graph, in_place
        self._tensors = {tensor.name: tensor for tensor in model.graph.initializer}
        self._numbers: set[str] = set()
        self._middles: dict[str, BlockMatrix] = {}
        self._constants = SharedConstants(model.graph)
        self._sums = BlockSums(self._constants)

    def written(self, node: NodeProto) -> list[NodeProto]:
        """Return the nodes that compute what a node does."""
        if node.op_type != OPERATOR:
            return [node]
        blocks = BlockMatrix.of(node)
        in_place = blocks.integers in self._in_place
        if blocks.bits == 8 or (in_place and not blocks.zeros):
            return self._widened(node, blocks)
        return [node] if in_place or not blocks.zeros else self._summed(node, blocks)

    def middles(self) -> dict[str, WeightRef]:
        """Return the zeros of the matrices that have none of their own: views of two arrays."""
        found: dict[str, WeightRef] = {}
        for bits in _SMALL:
            sizes = {
                name: blocks.shape[0] * blocks.shape[1] // blocks.block * bits // 8
                for name, blocks in self._middles.items()
                if blocks.bits == bits
            }
            middle = 0x88 if bits == 4 else 0x80
            every = np.full(max(sizes.values(), default=0), middle, np.uint8)
            found |= {name: ComputedArray(every[:n], DType.U8) for name, n in sizes.items()}
        return found

    def _widened(self, node: NodeProto, blocks: BlockMatrix) -> list[NodeProto]:
        """Return a product with the matrix in float32, and what makes it so if nothing did."""
        numbers = f"{blocks.integers}:numbers"
        product = _product(node.input[0], numbers, node.output[0])
        if numbers in self._numbers:
            return [product]
        self._numbers.add(numbers)
        self.mapped.add(blocks.integers)
        integers = self._tensors[blocks.integers]
        integers.data_type = _SMALL[blocks.bits]
        integers.dims[:] = blocks.shape
        middle = f"{blocks.integers}:middle"
        self._add_middle(middle, blocks)
        scales = f"{blocks.integers}:scales"
        given = [blocks.integers, scales, middle]
        widening = helper.make_node(
            "DequantizeLinear", given, [numbers], axis=1, block_size=blocks.block
        )
        return [*self._once_there(node.input[0], blocks, scales), widening, product]

    def _once_there(self, x: str, blocks: BlockMatrix, scales: str) -> list[NodeProto]:
        """Return nodes that make the scales of a matrix, as they are, a result that needs `x`.

        What needs weights alone, ONNX Runtime computes when a run begins: all matrices would be
        float32 at once.
        """
        make, nothing, shape = helper.make_node, f"{scales}:nothing", f"{scales}:shape"
        rows, columns = blocks.sides
        whole = self._constants.name_of(f"sides {rows} {columns}", [rows, columns])
        return [
            make("Shape", [x], [nothing], start=0, end=0),
            make("Concat", [nothing, whole], [shape], axis=0),
            make("Reshape", [blocks.scales, shape], [scales]),
        ]

    def _summed(self, node: NodeProto, blocks: BlockMatrix) -> list[NodeProto]:
        """Return the product with zeros in the middle, and what the true ones add to it."""
        x, y, make = node.input[0], node.output[0], helper.make_node
        self.mapped.add(blocks.zeros)
        product = NodeProto()
        product.CopyFrom(node)
        product.input[:] = [x, blocks.integers, blocks.scales]
        product.output[:] = [f"{y}:whole"]
        sums, summing = self._sums.of(x, blocks)
        middle = f"middle {blocks.bits}", np.float32(1 << (blocks.bits - 1))
        return [
            product,
            *summing,
            make("Sub", [self._constants.name_of(*middle), blocks.zeros], [f"{y}:steps"]),
            make("Mul", [f"{y}:steps", blocks.scales], [f"{y}:offsets"]),
            _product(sums, f"{y}:offsets", f"{y}:part"),
            make("Add", [f"{y}:whole", f"{y}:part"], [y]),
        ]

    def _add_middle(self, name: str, blocks: BlockMatrix) -> None:
        """Add the zeros of a matrix that has none of its own, as a weight outside of the model."""
        tensor = self._graph.initializer.add(
            name=name,
            data_type=_SMALL[blocks.bits],
            dims=blocks.sides,
            data_location=TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value=name)
        self._middles[name] = blocks


def _product(x: str, weight: str, result: str) -> NodeProto:
    """Return x W^T."""
    return helper.make_node("FusedMatMul", [x, weight], [result], domain=_MICROSOFT, transB=1)
