"""ONNX files for tests, written by the onnx package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from backends.base import Array

SHAPE = (1, 3, 16, 24)


def tensor(array: Array, name: str = "") -> TensorProto:
    """An array as a tensor of a file."""
    return numpy_helper.from_array(array, name)


def model(
    nodes: Sequence[NodeProto],
    tensors: Sequence[TensorProto] = (),
    *,
    opset: int = 11,
    element: int = TensorProto.FLOAT,
    shape: Sequence[int | str] = SHAPE,
    outputs: Sequence[str] = ("y",),
) -> ModelProto:
    """A model of these nodes from the value `x` to the outputs."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info(name, element, None) for name in outputs],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def node(operator: str, *inputs: str, to: str = "y", **attributes: Any) -> NodeProto:
    """A node with one output."""
    return helper.make_node(operator, inputs, [to], **attributes)


def write(path: Path, made: ModelProto) -> Path:
    """Write a model and return its path."""
    path.write_bytes(made.SerializeToString())
    return path


def small_network(opset: int = 11, element: int = TensorProto.FLOAT) -> ModelProto:
    """A network with weights that stay in the file, small ones, and constants of every kind."""
    random = np.random.default_rng(0)
    kind = np.float16 if element == TensorProto.FLOAT16 else np.float32
    weights = (random.standard_normal((32, 3, 7, 7)) * 0.1).astype(kind)
    nodes = [
        node("Conv", "x", "weights", "bias", to="c", pads=[3, 3, 3, 3], strides=[2, 2], group=1),
        node("Sigmoid", "c", to="g"),
        node("Mul", "c", "g", to="m"),
        node("Constant", to="k", value=tensor(random.standard_normal((32, 1, 1)).astype(kind))),
        node("Add", "m", "k", to="a"),
        helper.make_node("Cast", ["a"], ["cast"], to=element),
        node("Reshape", "cast", "shape", to="r"),
        node("Softmax", "r", axis=1),
    ]
    tensors = [
        tensor(weights, "weights"),
        tensor(np.linspace(-1, 1, 32).astype(kind), "bias"),
        tensor(np.array([32, -1], np.int64), "shape"),
    ]
    return model(nodes, tensors, opset=opset, element=element)
