"""Other weights for an engine: the order of calls, by a stand-in; and TensorRT-RTX's own names."""

import ctypes.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backends.base import (
    Array,
    BackendError,
    ComputedArray,
    DType,
    FileSlice,
    Precision,
    RefitError,
    WeightRef,
)
from backends.tensorrt.build import BuildOptions, ParsedGraph, build_engine
from backends.tensorrt.forms import operators
from backends.tensorrt.refit import refit, refittable
from tests.backends.samples import NeverCancelled, ignore
from tests.backends.tensorrt.networks import NETWORKS, PROFILE, VARIANTS
from tests.graphs.networks import Emit, graph_in_memory, random_weights

DRIVER = ctypes.util.find_library("cuda") or ctypes.util.find_library("nvcuda")
ONE, TWO = np.full((2, 3), 1.5, np.float16), np.full(4, 2.5, np.float16)
WEIGHTS: Mapping[str, WeightRef] = {
    "one.weight": ComputedArray(ONE, DType.F16),
    "one.bias": ComputedArray(TWO, DType.F16),
}


@dataclass
class Engine:
    """An engine that combines weights: one of a group is refitted only with all of it."""

    groups: tuple[tuple[str, ...], ...] = (("one.weight",), ("one.bias",))
    refittable: bool = True
    works: bool = True
    weights: dict[str, Array] = field(default_factory=dict[str, Array])


class Refitter:
    """The calls of `tensorrt_rtx.Refitter` that are used, as its documentation describes them."""

    def __init__(self, engine: Engine, _logger: Any) -> None:
        self._engine, self._set = engine, dict[str, tuple[str, int, int]]()

    def get_all_weights(self) -> list[str]:
        return [name for group in self._engine.groups for name in group]

    def set_named_weights(self, name: str, weights: tuple[str, int, int]) -> bool:
        self._set[name] = weights
        return name in self.get_all_weights()

    def get_missing_weights(self) -> list[str]:
        begun = [group for group in self._engine.groups if self._set.keys() & set(group)]
        return [name for group in begun for name in group if name not in self._set]

    def refit_cuda_engine(self) -> bool:
        if not self._engine.works or self.get_missing_weights():
            return False
        for name, (kind, pointer, count) in self._set.items():
            assert kind == "half"
            read = (ctypes.c_uint16 * count).from_address(pointer)
            self._engine.weights[name] = np.frombuffer(bytes(read), np.float16)
        return True


TRT = SimpleNamespace(
    Refitter=Refitter,
    Weights=lambda kind, pointer, count: (kind, pointer, count),  # pyright: ignore
    DataType=SimpleNamespace(FLOAT="float", HALF="half", BF16="bf16"),
)
SILENT = SimpleNamespace(errors=[])


def test_only_changed_weights_are_replaced() -> None:
    engine = Engine()
    refit(TRT, engine, WEIGHTS, {"one.weight"}, SILENT)
    assert engine.weights.keys() == {"one.weight"}
    np.testing.assert_array_equal(engine.weights["one.weight"], ONE.ravel())


def test_weights_in_a_file_are_read_from_there(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(3) + TWO.tobytes())
    engine = Engine()
    refit(TRT, engine, {"one.bias": FileSlice(path, 3, DType.F16, (4,))}, {"one.bias"}, SILENT)
    np.testing.assert_array_equal(engine.weights["one.bias"], TWO)
    path.unlink()
    with pytest.raises(BackendError, match="weights"):
        refit(TRT, engine, {"one.bias": FileSlice(path, 3, DType.F16, (4,))}, {"one.bias"}, SILENT)


def test_weights_that_are_combined_with_changed_ones_are_given_again() -> None:
    engine = Engine(groups=(("one.weight", "one.bias"),))
    refit(TRT, engine, WEIGHTS, {"one.weight"}, SILENT)
    np.testing.assert_array_equal(engine.weights["one.bias"], TWO)
    with pytest.raises(RefitError, match=r"graph lacks: one\.bias"):
        refit(TRT, engine, {"one.weight": WEIGHTS["one.weight"]}, {"one.weight"}, SILENT)


@pytest.mark.parametrize("engine", [Engine(groups=()), Engine(works=False)])
def test_a_refusal_is_an_error_with_tensorrts_reason(engine: Engine) -> None:
    with pytest.raises(RefitError, match=r"does not replace .*: it is fixed"):
        refit(TRT, engine, WEIGHTS, {"one.weight"}, SimpleNamespace(errors=["it is fixed"]))


def test_an_engine_tells_the_weights_that_can_be_replaced() -> None:
    assert refittable(TRT, Engine(), SILENT) == WEIGHTS.keys()
    assert refittable(TRT, Engine(refittable=False), SILENT) == frozenset()


@pytest.mark.oracle
@pytest.mark.parametrize("emit", [*NETWORKS.values(), *VARIANTS.values()])
def test_tensorrt_knows_every_weight_by_our_name(emit: Emit) -> None:
    trt: Any = pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    half = Precision.F16
    graph = graph_in_memory(emit, random_weights(emit), operators(), half.dtype, half)
    network = ParsedGraph(trt, graph).network
    assert all(network.mark_weights_refittable(name) for name in graph.weights)
    assert not network.mark_weights_refittable("no such weight")


@pytest.mark.oracle
def test_the_refitter_is_called_as_tensorrt_documents_it() -> None:
    trt: Any = pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    for dtype, kind in ((np.float32, "FLOAT"), (np.float16, "HALF")):
        array = np.zeros((2, 3), dtype)
        weights = trt.Weights(getattr(trt.DataType, kind), array.ctypes.data, array.size)
        assert (weights.size, weights.nbytes) == (array.size, array.nbytes)
    assert trt.Weights(trt.DataType.BF16, array.ctypes.data, 6).nbytes == 12
    documented = {
        "set_named_weights": "name: str, weights: tensorrt_rtx_bindings.tensorrt_rtx.Weights)",
        "get_missing_weights": "-> list[str]",
        "get_all_weights": "-> list[str]",
        "refit_cuda_engine": "-> bool",
        "__init__": "tensorrt_rtx.ICudaEngine, logger: tensorrt_rtx_bindings.tensorrt_rtx.ILogger)",
    }
    for name, words in documented.items():
        assert words in str(getattr(trt.Refitter, name).__doc__), name
    assert hasattr(trt.ICudaEngine, "refittable")


@pytest.mark.oracle
@pytest.mark.skipif(bool(DRIVER), reason="NVIDIA's driver is here")
@pytest.mark.parametrize("capability", ["SM86", "SM89", "SM120"])
def test_an_engine_whose_weights_can_be_replaced_is_not_built_without_a_driver(
    capability: str,
) -> None:
    """Once this fails, such engines can be built ahead of time: see docs/tensorrt.md."""
    trt: Any = pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    emit, half = NETWORKS["unet"], Precision.F16
    graph = graph_in_memory(emit, random_weights(emit), operators(), half.dtype, half)
    options = BuildOptions((capability,), refittable=True)
    with pytest.raises(BackendError, match="Myelin"):
        build_engine(trt, graph, PROFILE, options, ignore, NeverCancelled())
