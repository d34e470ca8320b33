"""The shapes of a graph's results for given sizes, found without running or compiling it.

The installed program has no shape inference of ONNX's. The rules are those of the operators that
our networks emit, ONNX's and ONNX Runtime's own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper

from engine.graphs.builder import Value

Shape = tuple[int, ...]
Integers = NDArray[np.int64]

_CALCULATED = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.floor_divide}
_BROADCAST = frozenset({"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"})
_REDUCED = frozenset({"ReduceMean", "ReduceSum", "ReduceMin", "ReduceMax"})


class Given(msgspec.Struct, frozen=True):
    """Shapes of a node's inputs, their integers where known, and attributes: what a rule reads.

    An input that is left out has the shape ().
    """

    shapes: Sequence[Shape]
    integers: Sequence[Integers | None]
    attributes: Mapping[str, Any]

    def ints(self, place: int) -> list[int]:
        """Return the integers of an input. Raises ValueError where they follow from no size."""
        found = self.integers[place]
        if found is None:
            raise ValueError(f"input {place} has unknown numbers")
        return [int(number) for number in found.reshape(-1)]

    def has(self, place: int) -> bool:
        """True if there is an input at a place, whose integers are known."""
        return place < len(self.integers) and self.integers[place] is not None


class ResultShapes:
    """The shapes of values, and the integers that follow from sizes alone."""

    def __init__(self, shapes: Mapping[Value, Shape], integers: Mapping[Value, Integers]) -> None:
        self._shapes, self._integers = dict(shapes), dict(integers)
        self._shapes |= {name: array.shape for name, array in integers.items()}
        self._shapes[""] = ()

    def __getitem__(self, value: Value) -> Shape:
        """Return the shape of a value."""
        return self._shapes[value]

    def numbers(self, value: Value) -> int:
        """Return the numbers of a value."""
        return math.prod(self._shapes[value])

    def is_calculated(self, value: Value) -> bool:
        """True for integers that follow from sizes alone."""
        return value in self._integers

    def add(self, node: NodeProto) -> None:
        """Find the shapes of a node's results.

        Raises ValueError for an operator without a rule.
        """
        taken = list(node.input)
        given = Given(
            [self._shapes[name] for name in taken],
            [self._integers.get(name) for name in taken],
            {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute},
        )
        found = _calculated(node.op_type, given)
        if found is not None:
            self._integers[node.output[0]] = found
            self._shapes[node.output[0]] = found.shape
            return
        shape = _shape(node.op_type, given)
        self._shapes |= {name: shape for name in node.output if name}


def _calculated(kind: str, given: Given) -> Integers | None:
    """Return the integers that a node computes of sizes; None where it computes anything else."""
    if kind == "Shape":
        whole = np.array(given.shapes[0], np.int64)
        return whole[given.attributes.get("start", 0) : given.attributes.get("end")]
    if any(array is None for array in given.integers):
        return None
    known = [array for array in given.integers if array is not None]
    if kind == "Concat":
        return np.concatenate(known)
    if kind == "Slice":
        start, end = given.ints(1)[0], given.ints(2)[0]
        return known[0][start:end]
    if kind == "Gather":
        return np.asarray(known[0][known[1]])
    return _CALCULATED[kind](*known) if kind in _CALCULATED else None


def _shape(kind: str, given: Given) -> Shape:
    if kind in _BROADCAST:
        return np.broadcast_shapes(*given.shapes)
    if kind in _REDUCED:
        return _reduced(given)
    if kind in _LIKE_FIRST:
        return given.shapes[0]
    if kind not in _RULES:
        raise ValueError(f"no rule for the shape of {kind}")
    return _RULES[kind](given)


def _reduced(given: Given) -> Shape:
    shape = list(given.shapes[0])
    axes = given.ints(1) if given.has(1) else list(range(len(shape)))
    if not given.attributes.get("keepdims", 1):
        gone = {axis % len(shape) for axis in axes}
        return tuple(size for axis, size in enumerate(shape) if axis not in gone)
    for axis in axes:
        shape[axis] = 1
    return tuple(shape)


def _product(given: Given) -> Shape:
    left, right = given.shapes[:2]
    columns = right[-2] if given.attributes.get("transB") else right[-1]
    return (*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], columns)


def _reshaped(given: Given) -> Shape:
    before, wanted = given.shapes[0], given.ints(1)
    shape = [before[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    if -1 in shape:
        rest = math.prod(size for size in shape if size != -1)
        shape[shape.index(-1)] = math.prod(before) // rest
    return tuple(shape)


def _sliced(given: Given) -> Shape:
    shape = list(given.shapes[0])
    starts, ends = given.ints(1), given.ints(2)
    axes = given.ints(3) if given.has(3) else range(len(starts))
    steps = given.ints(4) if given.has(4) else [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        shape[axis] = len(range(*slice(start, end, step).indices(shape[axis])))
    return tuple(shape)


def _joined(given: Given) -> Shape:
    shape, axis = list(given.shapes[0]), int(given.attributes["axis"])
    shape[axis] = sum(part[axis] for part in given.shapes)
    return tuple(shape)


def _gathered(given: Given) -> Shape:
    shape, axis = given.shapes[0], given.attributes.get("axis", 0) % len(given.shapes[0])
    return (*shape[:axis], *given.shapes[1], *shape[axis + 1 :])


def _transposed(given: Given) -> Shape:
    order: list[int] = given.attributes["perm"]
    return tuple(given.shapes[0][axis] for axis in order)


def _unsqueezed(given: Given) -> Shape:
    shape, axes = list(given.shapes[0]), given.ints(1)
    count = len(shape) + len(axes)
    for axis in sorted(axis % count for axis in axes):
        shape.insert(axis, 1)
    return tuple(shape)


def _tiled(given: Given) -> Shape:
    return tuple(size * times for size, times in zip(given.shapes[0], given.ints(1), strict=True))


def _padded(given: Given) -> Shape:
    pads, count = given.ints(1), len(given.shapes[0])
    return tuple(
        size + pads[axis] + pads[count + axis] for axis, size in enumerate(given.shapes[0])
    )


def _windows(given: Given, sides: Sequence[int]) -> list[int]:
    """Return the sizes of what windows over `sides` leave."""
    attributes = given.attributes
    kernel, count = attributes["kernel_shape"], len(sides)
    pads, strides = attributes.get("pads", [0] * 2 * count), attributes.get("strides", [1] * count)
    return [
        (side + pads[axis] + pads[count + axis] - kernel[axis]) // strides[axis] + 1
        for axis, side in enumerate(sides)
    ]


def _convolved(given: Given) -> Shape:
    shape = given.shapes[0]
    return (shape[0], given.shapes[1][0], *_windows(given, shape[2:]))


def _convolved_channels_last(given: Given) -> Shape:
    shape = given.shapes[0]
    return (shape[0], *_windows(given, shape[1:-1]), given.shapes[1][0])


def _pooled(given: Given) -> Shape:
    shape = given.shapes[0]
    return (*shape[:2], *_windows(given, shape[2:]))


def _spread(given: Given) -> Shape:
    """Return the shape of a transposed convolution's result."""
    shape, attributes = given.shapes[0], given.attributes
    kernel, strides = attributes["kernel_shape"], attributes["strides"]
    pads = attributes.get("pads", [0] * 4)
    sides = [
        (side - 1) * strides[axis] + kernel[axis] - pads[axis] - pads[2 + axis]
        for axis, side in enumerate(shape[2:])
    ]
    return (shape[0], given.shapes[1][1], *sides)


def _resized(given: Given) -> Shape:
    if given.has(3):
        return tuple(given.ints(3))
    return tuple(size * times for size, times in zip(given.shapes[0], given.ints(2), strict=True))


def _unpacked(given: Given) -> Shape:
    batch, channels, height, width = given.shapes[0]
    side = given.attributes["blocksize"]
    return (batch, channels // side**2, height * side, width * side)


def _packed(given: Given) -> Shape:
    batch, channels, height, width = given.shapes[0]
    side = given.attributes["blocksize"]
    return (batch, channels * side**2, height // side, width // side)


def _attended(given: Given) -> Shape:
    """Return [batch, tokens, width of values]; queries may be packed by heads with keys."""
    batch, tokens, *heads = given.shapes[0]
    return (batch, tokens, heads[0] * heads[-1] if len(heads) > 1 else given.shapes[2][-1])


_LIKE_FIRST = frozenset(
    "Abs BiasAdd Cast Clip Erf Gelu GroupNorm GroupNormalization Identity "  # noqa: SIM905
    "InstanceNormalization LayerNormalization LeakyRelu Neg PRelu Relu Sigmoid SkipGroupNorm "
    "SkipLayerNormalization Softmax Softplus Sqrt Tanh".split()
)
_RULES: Mapping[str, Callable[[Given], Shape]] = {
    "Attention": _attended,
    "AveragePool": _pooled,
    "BiasSplitGelu": lambda given: (*given.shapes[0][:-1], given.shapes[0][-1] // 2),
    "Concat": _joined,
    "Conv": _convolved,
    "ConvTranspose": _spread,
    "DepthToSpace": _unpacked,
    "FusedMatMul": _product,
    "Gather": _gathered,
    "MatMul": _product,
    "MatMulNBits": lambda given: (*given.shapes[0][:-1], given.attributes["N"]),
    "MaxPool": _pooled,
    "MultiHeadAttention": _attended,
    "NhwcConv": _convolved_channels_last,
    "Pad": _padded,
    "Reshape": _reshaped,
    "Resize": _resized,
    "Slice": _sliced,
    "SpaceToDepth": _packed,
    "Tile": _tiled,
    "Transpose": _transposed,
    "Unsqueeze": _unsqueezed,
}
