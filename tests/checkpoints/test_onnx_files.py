"""ONNX files as data: opsets, weights that stay in the file, constants of every type."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from backends.base import FileSlice, TensorSpec
from backends.elements import DType
from engine.api.values import ErrorCode
from engine.checkpoints.onnx.reading import read_onnx
from engine.errors import EngineError
from tests.checkpoints.onnx_files import model, node, small_network, tensor, write


def numbers(ref: FileSlice) -> np.ndarray:
    count = ref.elements
    return np.fromfile(ref.path, ref.dtype.numpy, count, offset=ref.offset).reshape(ref.shape)


def test_a_network_is_read_as_it_is(tmp_path: Path) -> None:
    made = small_network(opset=13)
    found = read_onnx(write(tmp_path / "small.onnx", made))
    assert found.opset == 13
    assert found.inputs == (TensorSpec("x", DType.F32, (1, 3, 16, 24)),)
    assert [output.name for output in found.outputs] == ["y"]
    operators = ["Conv", "Sigmoid", "Mul", "Add", "Cast", "Reshape", "Softmax"]
    assert [found_node.operator for found_node in found.nodes] == operators
    conv = found.nodes[0]
    assert conv.inputs == ("x", "weights", "bias")
    assert conv.attributes == {"pads": (3, 3, 3, 3), "strides": (2, 2), "group": 1}


def test_large_weights_stay_in_the_file(tmp_path: Path) -> None:
    made = small_network()
    found = read_onnx(write(tmp_path / "small.onnx", made))
    assert set(found.weights) == {"weights"}
    stored = np.frombuffer(made.graph.initializer[0].raw_data, np.float32).reshape(32, 3, 7, 7)
    assert np.array_equal(numbers(found.weights["weights"]), stored)
    # The tensor of a node is one of the file.
    assert set(found.tensors) == {"weights", "bias", "shape", "k"}


def test_weights_in_typed_fields_stay_there_too(tmp_path: Path) -> None:
    values = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    typed = helper.make_tensor("w", TensorProto.FLOAT, [5000], values.tolist())
    assert not typed.raw_data
    found = read_onnx(write(tmp_path / "typed.onnx", model([node("Add", "x", "w")], [typed])))
    assert np.array_equal(numbers(found.weights["w"]), values)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TensorProto.FLOAT, [1.5, -2.0]),
        (TensorProto.DOUBLE, [1.5, -2.0]),
        (TensorProto.INT64, [-(2**63), 2**63 - 1]),
        (TensorProto.INT32, [-1, 7]),
        (TensorProto.INT8, [-128, 127]),
        (TensorProto.UINT8, [0, 255]),
        (TensorProto.BOOL, [True, False]),
        (TensorProto.FLOAT16, [1.5, -2.0]),
    ],
)
@pytest.mark.parametrize("raw", [True, False])
def test_constants_of_every_type_are_read(
    tmp_path: Path, kind: int, values: list[float], *, raw: bool
) -> None:
    array = np.array(values, helper.tensor_dtype_to_np_dtype(kind))
    stored = tensor(array, "k") if raw else helper.make_tensor("k", kind, [2], values)
    found = read_onnx(write(tmp_path / "k.onnx", model([node("Identity", "k")], [stored])))
    constant = found.tensors["k"]
    assert (constant.kind, constant.shape) == (kind, (2,))
    assert constant.content == array.tobytes()


def test_open_sides_have_names(tmp_path: Path) -> None:
    shape = ["batch", 3, "2*height", "width"]
    found = read_onnx(write(tmp_path / "open.onnx", model([node("Relu", "x")], shape=shape)))
    assert found.inputs[0].shape == ("batch", 3, "x_2", "width")


def test_attributes_of_every_type_are_read(tmp_path: Path) -> None:
    made = model(
        [
            node("Resize", "x", "roi", "scales", to="r", mode="linear", cubic_coeff_a=-0.5),
            node("LRN", "r", size=3, alpha=0.0),
        ],
        [tensor(np.zeros(0, np.float32), "roi"), tensor(np.ones(4, np.float32), "scales")],
    )
    found = read_onnx(write(tmp_path / "attributes.onnx", made))
    assert found.nodes[0].attributes == {"mode": "linear", "cubic_coeff_a": -0.5}
    assert found.nodes[1].attributes == {"size": 3, "alpha": 0.0}


def test_files_with_other_content_have_other_digests(tmp_path: Path) -> None:
    network, other = small_network(), small_network()
    other.graph.initializer[0].raw_data = bytes(len(other.graph.initializer[0].raw_data))
    digests = {read_onnx(write(tmp_path / f"{at}.onnx", made)).digest
               for at, made in enumerate((network, network, other))}  # fmt: skip
    assert len(digests) == 2


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refused:
        read_onnx(tmp_path / "none.onnx")
    assert refused.value.code is ErrorCode.CHECKPOINT_NOT_FOUND
