"""ONNX files run as they are: beside the runtime itself, in bounded memory."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# (the runtime ships no complete types)

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, TensorProto

from backends.base import Array, Backend, Precision
from backends.cpu import CpuBackend
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.checkpoints.onnx.reading import read_onnx
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.onnx_network import onnx_network
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.hostile_onnx import growing, growing_constant
from tests.checkpoints.onnx_files import SHAPE, model, node, small_network, tensor, write
from tests.thinned import thinned

IMAGE = np.random.default_rng(3).standard_normal(SHAPE, np.float32)


def run(path: Path, backend: Backend | None = None) -> Mapping[str, Array]:
    """The outputs of a file on a backend's first device."""
    backend = backend or CpuBackend()
    device = backend.probe()[0]
    compiler = Compiler(backend, device, WorkingCopies(path.parent / "copies"))
    network = onnx_network(read_onnx(path))
    session = compiler.load(
        network, Precision.F32, WeightPlacement.MEMORY, lambda _d, _t: None, CancelToken()
    )
    try:
        with translated_errors(device):
            return session.run({"x": IMAGE})
    finally:
        session.close()


def by_itself(made: ModelProto) -> list[Array]:
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = np.float16 if "float16" in session.get_inputs()[0].type else np.float32
    return cast("list[Array]", session.run(None, {"x": IMAGE.astype(kind)}))


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21])
def test_a_file_gives_the_runtimes_own_numbers(tmp_path: Path, opset: int) -> None:
    made = small_network(opset)
    (found,) = run(write(tmp_path / "small.onnx", made)).values()
    assert np.array_equal(found, by_itself(made)[0])


def test_the_set_of_operators_is_the_files_own(tmp_path: Path) -> None:
    """Softmax of set 11 sums over all later axes, that of set 13 over one."""
    outcomes: list[Array] = []
    for opset in (11, 13):
        made = model([node("Softmax", "x", axis=1)], opset=opset)
        (found,) = run(write(tmp_path / f"{opset}.onnx", made)).values()
        assert np.array_equal(found, by_itself(made)[0])
        outcomes.append(found)
    assert not np.allclose(outcomes[0], outcomes[1])


def test_halves_are_computed_in_float32(tmp_path: Path) -> None:
    half = small_network(element=TensorProto.FLOAT16)
    (found,) = run(write(tmp_path / "half.onnx", half)).values()
    assert found.dtype == np.float32
    exact = small_network()
    exact.graph.initializer[0].CopyFrom(
        tensor(np.frombuffer(half.graph.initializer[0].raw_data, np.float16)
               .reshape(32, 3, 7, 7).astype(np.float32), "weights")
    )  # fmt: skip
    (wanted,) = by_itself(exact)
    assert np.abs(found - wanted).max() < 1e-4


def test_another_backend_runs_the_same_file(tmp_path: Path) -> None:
    openvino = pytest.importorskip("backends.intel_openvino")
    backend = openvino.OpenVinoBackend()
    if not backend.probe()[0].usable:
        pytest.skip("OpenVINO is not installed")
    made = small_network()
    (found,) = run(write(tmp_path / "small.onnx", made), backend).values()
    (wanted,) = by_itself(made)
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("grow", thinned([growing, growing_constant], [growing_constant]))
def test_a_value_that_grows_without_end_runs_out_of_bounded_memory(
    tmp_path: Path, grow: Callable[[int], ModelProto]
) -> None:
    path = write(tmp_path / "growing.onnx", grow(34))
    with pytest.raises(EngineError) as refused:
        run(path)
    assert refused.value.code is ErrorCode.OUT_OF_MEMORY
    # Others run as before.
    run(write(tmp_path / "small.onnx", small_network()))
