"""Networks of Q4_K and Q6_K, as files called Q4_K_M and Q5_K_M are, in products with 8 bits."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, Device, DType, Precision, Session
from backends.forms import BlockForm
from backends.intel_openvino import OpenVinoBackend, devices
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network, Preparation
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.packing import Field, PackedWeight, packing_of
from engine.weights.sources import FileWeight
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.gguf_files import blocks
from tests.weights.test_dequantization import written

pytestmark = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
BACKEND = OpenVinoBackend()
ROUNDING = Device(devices.BACKEND, "cpu", "", (Precision.F32, Precision.BF16, Precision.INT8))
OUT, IN, ROWS = 48, 512, 70
# Most numbers are in blocks of 32.
TYPES: Mapping[str, DType] = {"q": DType.Q4_K, "k": DType.Q4_K, "v": DType.Q6_K}


def mixed(folder: Path) -> Network:
    """A network of three products with one input, each with a matrix of its type."""
    weights: dict[str, FileWeight] = {}
    for seed, (name, dtype) in enumerate(TYPES.items()):
        (folder / name).mkdir()
        weights[f"{name}.weight"] = written(folder / name, blocks(dtype, (OUT, IN), seed))

    def emit(g: GraphBuilder) -> None:
        x = g.cast(g.input("x", DType.F32, ("rows", IN)), g.element)
        for name in TYPES:
            y = g.cast(g.linear(x, name, (IN, OUT), bias=False), DType.F32)
            g.output(y, f"{name} x", DType.F32, ("rows", OUT))

    return Network("mixed", emit, WeightSet("content", weights))


def loaded(compiler: Compiler, network: Network, precision: Precision) -> Session:
    place = WeightPlacement.WORKING_COPY
    return compiler.load(network, precision, place, lambda _done, _total: None, CancelToken())


def joined(weight: FileWeight, element: DType) -> Array:
    """The numbers of a weight whose blocks are joined."""
    packing = packing_of(weight, BlockForm(joined=True))
    assert packing is not None
    integers, scales = (
        PackedWeight(weight, packing, field, element).read().astype(np.float32)
        for field in (Field.INTEGERS, Field.SCALES)
    )
    return ((integers - 128) * scales[..., None]).reshape(weight.shape)


def error(found: Array, expected: Array) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.BF16])
def test_every_layer_of_a_mixed_network_is_rounded(precision: Precision, tmp_path: Path) -> None:
    """Beside the numbers that the layer has: the rounding of the weights is no part of it."""
    (device,) = [device for device in BACKEND.probe() if device.id == "cpu"]
    if precision not in device.precisions or Precision.INT8 not in device.precisions:
        pytest.skip("this processor has no instructions for 8 bits")
    network = mixed(tmp_path)
    session = loaded(Compiler(BACKEND, device, WorkingCopies(tmp_path / "a")), network, precision)
    x = np.random.default_rng(0).standard_normal((ROWS, IN), np.float32)
    found, element = session.run({"x": x}), precision.dtype
    session.close()
    wide = x.astype(element.numpy).astype(np.float32)
    for name, dtype in TYPES.items():
        weight = network.weights[f"{name}.weight"]
        assert isinstance(weight, FileWeight)
        whole = joined(weight, element) if dtype is DType.Q6_K else weight.read()
        assert 3.5e-3 < error(found[f"{name} x"], wide @ whole.T) < 8e-3
        # Without rounding, 6e-7 in float32 and 3.3e-3 in bfloat16.
        assert 4e-3 < error(found[f"{name} x"], wide @ weight.read().T) < 1e-2


def test_float32_is_exact_and_has_a_working_copy_of_its_own(tmp_path: Path) -> None:
    copies, network = WorkingCopies(tmp_path / "copies"), mixed(tmp_path)
    compiler = Compiler(BACKEND, ROUNDING, copies)
    x = np.random.default_rng(0).standard_normal((ROWS, IN), np.float32)
    for precision in (Precision.INT8, Precision.F32):
        prepared = compiler.prepared(network, precision)
        assert prepared.preparation() is Preparation.CONVERT
        assert not compiler.has_copy(network.weights, precision)
        session = loaded(compiler, network, precision)
        assert prepared.preparation() is Preparation.LOAD
        assert compiler.has_copy(network.weights, precision)
        found = session.run({"x": x})
        session.close()
    for name in TYPES:
        assert error(found[f"{name} x"], x @ network.weights[f"{name}.weight"].read().T) < 1e-5
    sizes = [
        compiler.bound_bytes(network.weights, precision)
        for precision in (Precision.F32, Precision.INT8)
    ]
    # A scale of 32 bits for 32 numbers in place of two.
    assert sizes[0] - sizes[1] == OUT * IN // 32 * 4
    assert len(copies.listed()) == 2


def test_a_network_without_blocks_to_join_has_one_copy_for_both_precisions(tmp_path: Path) -> None:
    network = mixed(tmp_path)
    four = {f"{name}.weight": network.weights["q.weight"] for name in TYPES}
    network = msgspec.structs.replace(network, weights=WeightSet("content", four))
    compiler = Compiler(BACKEND, ROUNDING, WorkingCopies(tmp_path / "copies"))
    loaded(compiler, network, Precision.F32).close()
    assert compiler.prepared(network, Precision.INT8).preparation() is Preparation.LOAD
