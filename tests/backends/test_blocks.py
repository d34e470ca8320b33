"""Linear layers whose weights stay in blocks of 4 or 8 bits, on torch and on cards."""

from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np
import pytest

from backends.base import Backend, Device, DType, Precision, Session
from backends.forms import BlockForm
from backends.intel_openvino import OpenVinoBackend
from backends.nvidia_cuda import CudaBackend
from backends.torch_device import TorchBackend
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.sources import FileWeight
from tests.checkpoints.gguf_files import QUANTIZED, blocks
from tests.weights.test_dequantization import written

ROUNDS = 20
# In half precision scales and zeros are rounded to 11 or 8 bits, as the numbers are.
TOLERANCES = {
    Precision.F32: 1e-5,
    Precision.F16: 2e-3,
    Precision.BF16: 1e-2,
    Precision.INT8: 8e-3,
}
# Numbers of five bits with offsets are rounded anew.
ROUNDED = {DType.Q5_1: 6e-3, DType.Q5_K: 6e-3}
CARDS = [
    (backend, device)
    for backend in (CudaBackend(), TorchBackend())
    for device in backend.probe()
    if device.usable and device.id != "cpu"
]


types = pytest.mark.parametrize("dtype", QUANTIZED)
every_card = pytest.mark.parametrize(
    ("backend", "device"), CARDS, ids=[f"{backend.name} {device.name}" for backend, device in CARDS]
)


def linear(
    backend: Backend,
    device: Device,
    weight: FileWeight,
    precision: Precision,
    form: BlockForm | None,
) -> Session:
    """A session of one linear layer, x W^T."""
    operators = msgspec.structs.replace(backend.operators(device), blocks=form)
    outputs, inputs = weight.shape
    element = precision.dtype
    g = GraphBuilder("test", {"a.weight": weight}, operators, element, precision)
    x = g.cast(g.input("x", DType.F32, ("rows", inputs)), element)
    y = g.linear(x, "a", (inputs, outputs), bias=False)
    g.output(g.cast(y, DType.F32), "y", DType.F32, ("rows", outputs))
    graph = g.build(bind(g.used, element))
    assert (b"MatMulNBits" in graph.model) is (form is not None)
    return backend.load(graph, None, device, lambda _done: None, CancelToken())


def error_of(backend: Backend, device: Device, precision: Precision, weight: FileWeight) -> float:
    """The relative error of a layer in the backend's form, beside the numbers of the file."""
    x = np.random.default_rng(0).standard_normal((70, weight.shape[1]), np.float32)
    form = backend.operators(device).blocks
    assert form == BlockForm()
    session = linear(backend, device, weight, precision, form)
    found = session.run({"x": x})["y"]
    session.close()
    rounded = x.astype(precision.dtype.numpy).astype(np.float32)
    expected = rounded @ weight.read().T
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@types
@pytest.mark.parametrize("precision", [Precision.F32, Precision.BF16, Precision.INT8])
def test_openvino_computes_with_blocks(precision: Precision, dtype: DType, tmp_path: Path) -> None:
    backend = OpenVinoBackend()
    device = next(device for device in backend.probe() if device.id == "cpu")
    if precision not in device.precisions:
        pytest.skip(f"this processor has no instructions for {precision}")
    weight = written(tmp_path, blocks(dtype, (48, 512)))
    limit = TOLERANCES[precision] + ROUNDED.get(dtype, 0)
    error = error_of(backend, device, precision, weight)
    assert error < limit
    if precision is Precision.INT8:
        # What is multiplied is rounded to 8 bits, beside zeros that are no integers, too.
        assert error > TOLERANCES[Precision.F32]


@pytest.mark.oracle
@types
@pytest.mark.parametrize("precision", [Precision.F32, Precision.F16, Precision.BF16])
def test_torch_computes_with_blocks(precision: Precision, dtype: DType, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    backend = TorchBackend()
    device = next(device for device in backend.probe() if device.id == "cpu")
    weight = written(tmp_path, blocks(dtype, (48, 512)))
    limit = TOLERANCES[precision] + ROUNDED.get(dtype, 0)
    assert error_of(backend, device, precision, weight) < limit


@pytest.mark.gpu
@types
@every_card
def test_a_card_computes_with_blocks(
    backend: Backend, device: Device, dtype: DType, tmp_path: Path
) -> None:
    weight = written(tmp_path, blocks(dtype, (96, 512)))
    for precision in device.precisions:
        limit = TOLERANCES[precision] + ROUNDED.get(dtype, 0)
        assert error_of(backend, device, precision, weight) < limit


@pytest.mark.gpu
@every_card
def test_the_speed_of_blocks_on_a_card_is_printed(
    backend: Backend, device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A layer of Flux.1's width, 4,352 tokens."""
    weight = written(tmp_path, blocks(DType.Q4_K, (12288, 3072), scale=0.003))
    x = np.zeros((4352, 3072), np.float32)
    precision, times = device.precisions[0], list[float]()
    for form in (None, BlockForm()):
        session = linear(backend, device, weight, precision, form)
        value = session.run_on_device({"x": x})["y"]
        for _ in range(3):
            session.run_on_device({"x": x})
        start = perf_counter()
        for _ in range(ROUNDS):
            value = session.run_on_device({"x": x})["y"]
        value.numpy()
        times.append((perf_counter() - start) / ROUNDS * 1e3)
        session.close()
    with capsys.disabled():
        print(f"\n{backend.name}: {times[0]:.2f} ms a run, in blocks {times[1]:.2f} ms")  # noqa: T201
