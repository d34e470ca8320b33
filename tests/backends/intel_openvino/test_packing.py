"""Weights in blocks are packed while a network loads, by a run as small as can be."""

import json
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Graph, Precision, RunCancelled
from backends.intel_openvino import OpenVinoBackend
from tests.backends.memory_probe import LARGE_SIDE, LAYERS, layers_in_blocks
from tests.backends.samples import NeverCancelled, Target
from tests.backends.test_contract import ROOT

pytest.importorskip("openvino")
SIDE = 256
LEAST = {"rows": 1}


@pytest.fixture(params=[Precision.F32, Precision.INT8, Precision.BF16])
def target(request: pytest.FixtureRequest) -> Target:
    backend = OpenVinoBackend()
    device = backend.probe()[0]
    if request.param not in device.precisions:
        pytest.skip(f"no {request.param} on this processor")
    return Target(backend, device, request.param, request.param.dtype)


class StoppedAtOnce(NeverCancelled):
    """A request to stop that comes with the first run."""

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        stop()
        yield


def packing(target: Target, folder: Path) -> Graph:
    return msgspec.structs.replace(layers_in_blocks(target, folder, SIDE), least_sizes=LEAST)


@pytest.mark.skipif(sys.platform != "linux", reason="no way to tell private memory")
def test_the_first_run_packs_nothing_more(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.backends.memory_probe", "intel_openvino"]
    told = subprocess.check_output([*command, str(tmp_path), "packed"], text=True, cwd=ROOT)
    before, loaded, ran = json.loads(told)
    integers = LAYERS * LARGE_SIDE**2 // 2
    assert loaded - before > integers
    assert ran - loaded < integers / 4


def test_results_are_those_of_a_network_that_packs_in_its_first_run(
    target: Target, tmp_path: Path
) -> None:
    graph = packing(target, tmp_path)
    x = np.random.default_rng(0).standard_normal((40, SIDE), np.float32)
    ahead, later = (
        target.load(variant) for variant in (graph, msgspec.structs.replace(graph, least_sizes={}))
    )
    assert np.array_equal(ahead.run({"x": x})["y"], later.run({"x": x})["y"])


def test_packing_ends_where_the_load_is_cancelled(target: Target, tmp_path: Path) -> None:
    graph = packing(target, tmp_path)
    with pytest.raises(RunCancelled):
        target.load(graph, StoppedAtOnce())
    target.load(msgspec.structs.replace(graph, least_sizes={}), StoppedAtOnce()).close()
