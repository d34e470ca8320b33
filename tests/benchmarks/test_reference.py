"""The graphs of the section `reference`, on a UNet of a few thousand weights."""

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backends.base import Graph, OperatorSet, Session, size_of
from backends.cpu import CpuBackend
from benchmarks import networks
from benchmarks.peers import reference_step
from benchmarks.reference_unet import reference_unet
from engine.graphs.unet import unet
from tests.backends.samples import NeverCancelled, ignore
from tests.graphs.networks import graph_in_memory, random_weights, small_unet
from tests.tiny_checkpoint import write_checkpoint

CONFIG = small_unet()
SIZES = {"batch": 1, "height": 8, "width": 8, "contexts": 2, "tokens": 5}
PLAIN = partial(unet, config=CONFIG, halves_evenly=True)


def loaded(**form: bool) -> tuple[Graph, Session]:
    emit = partial(reference_unet, config=CONFIG, **form) if form else PLAIN
    graph = graph_in_memory(emit, random_weights(PLAIN), OperatorSet(opset=17))
    backend = CpuBackend()
    return graph, backend.load(graph, None, backend.probe()[0], ignore, NeverCancelled())


def test_a_run_that_sees_its_own_tokens_twice_is_the_plain_one() -> None:
    graph, plain = loaded()
    _, writer = loaded(writes=True, reads=False)
    read, reader = loaded(writes=False, reads=True)
    feeds = networks.random_feeds(graph, SIZES)
    expected = plain.run(feeds)["prediction"]
    seen = dict(writer.run(feeds))
    np.testing.assert_allclose(seen.pop("prediction"), expected, rtol=1e-4, atol=1e-5)

    kept = {name.replace("seen", "kept"): array for name, array in seen.items()}
    own = reader.run(feeds | kept)["prediction"]
    np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)
    other = reader.run(feeds | {name: -array for name, array in kept.items()})["prediction"]
    assert np.abs(other - expected).max() > 0.01
    assert sum(spec.name.startswith("kept.") for spec in read.inputs) == len(kept)


def test_one_graph_that_writes_and_reads_nothing_is_the_plain_one() -> None:
    graph, plain = loaded()
    both, session = loaded(writes=True, reads=True)
    feeds = networks.random_feeds(graph, SIZES)
    nothing = {
        spec.name: np.zeros((size_of(spec.shape[0], SIZES), 0, int(spec.shape[2])), np.float32)
        for spec in both.inputs
        if spec.name.startswith("kept.")
    }
    expected = plain.run(feeds)["prediction"]
    made = session.run(feeds | nothing)["prediction"]
    np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
def test_each_way_is_run_and_its_layers_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = str(write_checkpoint(tmp_path / "tiny"))
    feeds = {
        "sample": np.random.default_rng(0).standard_normal((1, 4, 8, 8), np.float32),
        "timestep": np.array([500], np.float32),
        "context": np.ones((2, 77, 64), np.float32),
    }

    def small(_component: str, _pictures: int) -> Mapping[str, np.ndarray]:
        return feeds

    monkeypatch.setattr(reference_step, "feeds", small)
    saved = tmp_path / "found.npy"
    found: list[np.ndarray] = []
    for way, task in (
        (reference_step.PLAIN, reference_step.ALONE),
        (reference_step.TWO, reference_step.BESIDE),
        (reference_step.ONE, reference_step.BESIDE),
    ):
        peer = reference_step.ReferenceStep(checkpoint, "f32", way, size=64)
        assert peer.answer(task, {"save": str(saved)})["seconds"] > 0
        found.append(np.load(saved))
        layers = peer.answer(reference_step.LAYERS, {})["layers"]
        # Fused attention is no product of matrices in the executed graph.
        assert all(one["FullyConnected"] > 0 and not one.get("MatMul") for one in layers)
        peer.close()
    # The kept tokens are the layer's own.
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], rtol=1e-3, atol=1e-4)
