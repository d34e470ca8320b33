"""A session's use of torch beyond computing: memory, refusals, recorded and compiled runs."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import weakref
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")

from backends.base import BackendError, Device, DType, Precision, RunCancelled  # noqa: E402
from backends.torch_device import TorchBackend, TorchOptions, replay  # noqa: E402
from engine.graphs.unet import timestep_embedding, unet  # noqa: E402
from tests.backends.samples import (  # noqa: E402
    Target,
    matmul_graph,
    relative_error,
    sample_feeds,
    sample_graph,
    sample_result,
)
from tests.graphs.networks import graph_in_memory, random_weights, small_unet  # noqa: E402


def target(options: TorchOptions | None = None) -> Target:
    """Single precision on the processor."""
    backend = TorchBackend(options or TorchOptions())
    return Target(backend, next(d for d in backend.probe() if d.id == "cpu"))


def loaded(emit, options: TorchOptions | None = None) -> Any:
    chosen = target(options)
    operators = chosen.backend.operators(chosen.device)
    return chosen.load(graph_in_memory(emit, random_weights(emit), operators))


# --- memory ---


def test_a_session_ends_on_a_device_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """After such an error CUDA refuses every call, also that to empty torch's cache."""

    def lost() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    session = loaded(gelus(2))
    monkeypatch.setattr(torch.cuda, "empty_cache", lost)
    session._device = torch.device("cuda")
    session.close()


def gelus(count: int):
    def emit(g):
        x = g.input("x", DType.F32, ("n",))
        for _ in range(count):
            x = g.gelu(x)
        g.output(x, "y", DType.F32, ("n",))

    return emit


def test_a_value_is_freed_after_its_last_use() -> None:
    session, results, alive = loaded(gelus(30)), [], []

    def watched(function):
        def call(*arguments):
            result = function(*arguments)
            results.append(weakref.ref(result))
            alive.append(sum(ref() is not None for ref in results))
            return result

        return call

    session._steps = [(watched(function), *rest) for function, *rest in session._steps]
    session.run({"x": np.ones(8, np.float32)})
    assert len(alive) == 31
    assert max(alive) == 2


def test_out_of_memory_is_told_from_other_failures_and_leaves_nothing() -> None:
    def emit(g):
        x = g.input("x", DType.F32, ("rows", 1))
        y = g.linear(x, "l", (1, 1 << 21), bias=False)
        g.output(y, "y", DType.F32, ("rows", 1 << 21))

    session = loaded(emit)
    with pytest.raises(BackendError) as caught:
        session.run({"x": np.ones((1 << 22, 1), np.float32)})  # 35 terabytes
    assert caught.value.out_of_memory
    assert session.run({"x": np.ones((2, 1), np.float32)})["y"].shape == (2, 1 << 21)


def test_weights_are_over_the_pages_of_their_file(tmp_path: Path) -> None:
    graph = matmul_graph(target(), tmp_path, side=256)
    session: Any = target().load(graph)
    (weight,) = session._constants.values()
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    (span,) = (fields[0] for fields in maps if fields[-1] == str(tmp_path / "matmul.safetensors"))
    first, last = (int(end, 16) for end in span.split("-"))
    assert first <= weight.data_ptr() < last


# --- refusals ---


@pytest.mark.parametrize(
    ("kind", "attributes", "named"),
    [
        ("Softsign", {}, "Softsign"),
        ("Gelu", {"approximate": "erf"}, "Gelu.*approximate"),
    ],
)
def test_an_unknown_operator_is_refused_when_the_graph_is_loaded(kind, attributes, named) -> None:
    def emit(g):
        x = g.input("x", DType.F32, ("n",))
        g.output(g.op(kind, x, **attributes), "y", DType.F32, ("n",))

    with pytest.raises(BackendError, match=named):
        loaded(emit)


def test_an_error_of_torch_is_a_backend_error() -> None:
    session = loaded(gelus(1))
    with pytest.raises(BackendError) as caught:
        session.run({"x": np.ones((2, 2), np.float32)})
    assert not caught.value.out_of_memory


def test_only_an_input_can_be_pinned() -> None:
    with pytest.raises(BackendError, match="shift"):
        loaded(gelus(1)).pin("shift", np.ones(1, np.float32))


def test_a_device_that_torch_lacks_is_an_error(tmp_path: Path) -> None:
    absent = replace(target(), device=Device("torch_device", "cuda:7", "a card", (Precision.F32,)))
    with pytest.raises(BackendError):
        absent.load(matmul_graph(absent, tmp_path, side=4))


def test_cancel_takes_effect_between_operators() -> None:
    session, ran = loaded(gelus(5)), []

    def noting(number, function):
        def call(*arguments):
            ran.append(number)
            if number == 2:
                canceller = Thread(target=session.cancel)
                canceller.start()
                canceller.join()
            return function(*arguments)

        return call

    session._steps = [(noting(i, f), *rest) for i, (f, *rest) in enumerate(session._steps)]
    with pytest.raises(RunCancelled):
        session.run({"x": np.ones(3, np.float32)})
    assert ran == [0, 1, 2]


# --- recorded runs ---


def unet_feeds(size: int = 8):
    random, config = np.random.default_rng(2), small_unet()
    return {
        "sample": random.standard_normal((1, 4, size, size), np.float32),
        "timestep_embedding": timestep_embedding(config, 20.0),
        "context": random.standard_normal((2, 5, config.context_width), np.float32),
    }


NETWORK = partial(unet, config=small_unet(), halves_evenly=True)


def test_a_run_that_cannot_be_recorded_is_computed_directly() -> None:
    """There is no CUDA here: every attempt fails, and every result is right."""
    session, plain = loaded(NETWORK, TorchOptions(cuda_graphs=True)), loaded(NETWORK)
    feeds = unet_feeds()
    expected = plain.run(feeds)["prediction"]
    for _ in range(3):
        np.testing.assert_array_equal(session.run(feeds)["prediction"], expected)
    assert len(session._run.refused) == 1


class Record:
    """A record that only says that it was used."""

    def __init__(self, compute, values) -> None:
        self.uses = 0
        self.result = compute(dict(values))

    def replay(self, values):
        self.uses += 1
        return self.result


def test_a_run_is_recorded_when_its_shapes_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_Record", Record)
    computed = []

    def compute(values):
        computed.append(tuple(values["x"].shape))
        values.clear()
        return []

    run: Any = replay.Replay(compute)
    small, large = {"x": torch.ones(2)}, {"x": torch.ones(3)}
    for values in (small, small, small, large, small, small):
        run(dict(values))
    # at once, recorded, from the record; at once; at once again, recorded anew
    assert computed == [(2,), (2,), (3,), (2,), (2,)]
    assert run._record.uses == 1


# --- compiled runs ---


def test_a_compiled_run_computes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through torch's tracer alone: its code generator needs a C++ compiler and a minute."""
    traced = partial(torch.compile, backend="eager", fullgraph=True)
    monkeypatch.setattr(torch, "compile", traced)
    compiled = target(TorchOptions(compiled=True))
    session = compiled.load(sample_graph(compiled, tmp_path))
    for size in ((1, 3, 4), (2, 7, 5), (1, 3, 4)):
        feeds = sample_feeds(*size)
        result = session.run(feeds)["doubled"]
        assert relative_error(result, sample_result(feeds, DType.F32)) < 1e-5
