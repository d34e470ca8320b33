"""Compiling in a process of its own: it can be ended, it may crash, and it outlives nobody."""

import os
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from backends.base import BackendError, DType, Precision, RunCancelled, ShapeProfile, ShapeSupport
from backends.null import Compiling, NullBackend
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.child import compile_in_child
from engine.errors import EngineError
from tests.app.supervised import is_alive
from tests.compile.compiling import Bench, network, write_weights


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.change(interruptible=False)
    return bench


def test_the_compile_process_makes_the_same_artifact(bench: Bench) -> None:
    bench.change(carries_weights=True)
    bench.numbers()
    (own,) = bench.artifacts()
    content = (own / "network.bin").read_bytes()
    bench.store.remove()
    bench.change(interruptible=True)
    bench.numbers()
    (inside,) = bench.artifacts()
    assert (inside / "network.bin").read_bytes() == content
    assert bench.compiles == 2


def test_progress_reaches_us(bench: Bench) -> None:
    bench.session().close()
    assert bench.reports == [(100 * step, 1000) for step in range(1, 11)]


@pytest.mark.parametrize("shapes", ShapeSupport)
def test_weights_that_are_converted_travel_in_a_file(bench: Bench, shapes: ShapeSupport) -> None:
    """A working copy: gigabytes do not go through a pipe."""
    bench.change(carries_weights=True, shapes=shapes)
    halves = network(write_weights(bench.folder / "halves.safetensors", dtype=DType.F16))
    whole = bench.numbers(halves, precision=Precision.F32)
    assert len(list((bench.cache / "weights").iterdir())) == 1
    assert bench.reports[0][1] != 1000
    assert (bench.numbers(halves) == whole).all()
    assert bench.compiles == 1


def test_a_crash_is_an_error_with_the_last_words(bench: Bench) -> None:
    bench.change(crashes=("text_encoder",))
    with pytest.raises(EngineError) as caught:
        bench.session()
    assert caught.value.code is ErrorCode.BACKEND_FAILED
    assert "died with status" in caught.value.detail
    assert bench.left() == set()
    bench.change(crashes=())
    assert bench.numbers().any()


def test_the_refusal_of_the_compiler_is_reported(bench: Bench) -> None:
    bench.change(fails=("text_encoder",))
    with pytest.raises(EngineError, match="null failed") as caught:
        bench.session()
    assert caught.value.detail == "it gives up on text_encoder"


def test_a_process_that_cannot_be_started_is_an_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(bench.folder / "nothing"))
    with pytest.raises(EngineError) as caught:
        bench.session()
    assert "cannot be started" in caught.value.detail


def test_a_device_that_no_backend_has(bench: Bench) -> None:
    device = NullBackend(compiling=Compiling()).probe()[0]
    unknown = type(device)("nobody", "id", "name")
    graph = bench.compiler().prepared(network(bench.weights), Precision.F32).graph
    with pytest.raises(BackendError, match="no backend nobody"):
        compile_in_child(
            graph,
            unknown,
            ShapeProfile(),
            bench.folder,
            lambda _done: None,
            CancelToken(),
        )


def test_a_wish_to_stop_that_came_before(bench: Bench) -> None:
    token = CancelToken()
    token.cancel()
    graph = bench.compiler().prepared(network(bench.weights), Precision.F32).graph
    device = NullBackend().probe()[0]
    with pytest.raises(RunCancelled):
        compile_in_child(graph, device, ShapeProfile(), bench.folder, lambda _done: None, token)


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes as Linux lists them")
def test_the_compile_process_dies_with_its_parent(bench: Bench) -> None:
    bench.change(gate=str(bench.folder / "gate"))
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.compile.contestant", str(bench.folder)],
        stdout=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        env=os.environ | bench.compiling.as_environment(),
    )
    try:
        while not bench.compiles:
            sleep(0.01)
        children = Path(f"/proc/{parent.pid}/task").glob("*/children")
        (compiler,) = (int(pid) for file in children for pid in file.read_text().split())
        assert is_alive(compiler)
    finally:
        parent.kill()
        parent.wait()
    while is_alive(compiler):
        sleep(0.01)
