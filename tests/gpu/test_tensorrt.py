"""Engines of TensorRT whose weights are replaced on a card: the weights it lists, and the numbers.

`make gpu` runs this where `tensorrt` or `tensorrt_rtx` is installed beside a card. It prints, for
each network, how many of the weights that LoRAs may change can be replaced, and fails where one is
missing. When all of it passes, `TensorRtBackend` may refit by default (docs/tensorrt.md).
"""

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
import pytest

from backends import hardware
from backends.base import Array, Artifact, BackendError, Device, Graph, Precision, Session
from backends.nvidia_tensorrt import TensorRtBackend
from backends.tensorrt import cards
from backends.tensorrt.build import BuildOptions, build_engine, failure, messages_of
from backends.tensorrt.cards import Card
from backends.tensorrt.driver import CudaStream
from backends.tensorrt.forms import operators
from backends.tensorrt.refit import refittable
from engine.graphs.unet import timestep_embedding, unet
from tests.backends.samples import NeverCancelled, ignore, relative_error
from tests.backends.tensorrt.networks import NETWORKS, PROFILE, UNET
from tests.graphs.networks import Emit, graph_in_memory, random_weights, sd15_unet

CARDS: list[Card] = [
    card
    for card in (
        cards.card_of(adapter) for adapter in cards.nvidia_adapters(hardware.list_adapters())
    )
    if isinstance(card, Card)
]
PACKAGES = [name for name in ("tensorrt", "tensorrt_rtx") if find_spec(name)]
DEVICES = [device for device in TensorRtBackend().probe() if device.usable]
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not CARDS or not PACKAGES, reason="no card of NVIDIA's, or no TensorRT"),
]
# Architectures that TensorRT-RTX builds for ahead of time; a card lists what it can load.
AHEAD = ("SM86", "SM89", "SM120")
TARGETS = [("tensorrt", ""), *(("tensorrt_rtx", name) for name in AHEAD)]
HALF = Precision.F16
ROUNDS = 20


def graph_of(emit: Emit, weights: dict[str, Array]) -> Graph:
    return graph_in_memory(emit, weights, operators(), HALF.dtype, HALF)


@pytest.mark.parametrize("name", [*NETWORKS, "unet of SD 1.5"])
@pytest.mark.parametrize(("package", "capability"), TARGETS)
def test_every_weight_that_loras_change_can_be_replaced(
    package: str, capability: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """LoRAs change kernels, biases and norms: every weight of a network."""
    if package not in PACKAGES:
        pytest.skip(f"{package} is not installed")
    trt: Any = import_module(package)
    emit = NETWORKS.get(name) or partial(unet, config=sd15_unet())
    graph = graph_of(emit, random_weights(emit))
    own = {"SM{}{}".format(*card.capability) for card in CARDS}
    options = BuildOptions((capability,) if capability else (), refittable=True)
    stream = CudaStream(cards.identity(CARDS[0].adapter))
    try:
        found = listed(trt, graph, options)
    except BackendError as error:
        if capability and capability not in own:
            pytest.skip(f"{capability} needs a card of its own: {error}")
        raise
    finally:
        stream.close()
    missing, count = sorted(graph.weights.keys() - found), len(graph.weights)
    there = f"{count - len(missing)} of {count} weights"
    with capsys.disabled():
        print(f"\n{package} {capability} {name}: {there}", *missing[:8])  # noqa: T201
    assert not missing


def listed(trt: Any, graph: Graph, options: BuildOptions) -> frozenset[str]:
    """The weights of a graph that can be replaced once it is built."""
    engine = build_engine(trt, graph, PROFILE, options, ignore, NeverCancelled())
    messages = messages_of(trt)
    runtime = trt.Runtime(messages)
    loaded = runtime.deserialize_cuda_engine(engine)
    if loaded is None:
        raise failure("TensorRT does not load the engine", messages)
    return refittable(trt, loaded, messages)


class Bench:
    """Engines of a small denoiser on one card."""

    def __init__(self, device: Device, folder: Path) -> None:
        self.device, self.folder = device, folder
        self.emit = NETWORKS["unet"]
        self.weights = random_weights(self.emit)
        random = np.random.default_rng(2)
        self.changed = {
            name: array + 0.3 * array.std() * random.standard_normal(array.shape, np.float32)
            for name, array in self.weights.items()
            if array.ndim > 1
        }
        self.feeds = {
            "sample": random.standard_normal((1, 4, 16, 16), np.float32),
            "timestep_embedding": timestep_embedding(UNET, 500.0),
            "context": random.standard_normal((2, 77, UNET.context_width), np.float32),
        }

    def graph(self, weights: dict[str, Array]) -> Graph:
        backend = TensorRtBackend()
        forms = backend.operators(self.device)
        return graph_in_memory(self.emit, weights, forms, HALF.dtype, HALF)

    def artifact(self, weights: dict[str, Array], *, refits: bool) -> Artifact:
        folder = self.folder / f"{refits} {len(list(self.folder.iterdir()))}"
        folder.mkdir()
        backend, never = TensorRtBackend(refits=refits), NeverCancelled()
        return backend.compile(self.graph(weights), self.device, PROFILE, folder, ignore, never)

    def session(self, artifact: Artifact, graph: Graph) -> Session:
        return TensorRtBackend().load(graph, artifact, self.device, ignore, NeverCancelled())

    def numbers(self, artifact: Artifact, graph: Graph) -> Array:
        session = self.session(artifact, graph)
        try:
            return session.run(self.feeds)["prediction"]
        finally:
            session.close()

    def step_seconds(self, artifact: Artifact) -> float:
        session = self.session(artifact, self.graph(self.weights))
        times: list[float] = []
        for _ in range(ROUNDS):
            began = perf_counter()
            session.run(self.feeds)
            times.append(perf_counter() - began)
        session.close()
        return median(times)


@pytest.mark.skipif(not DEVICES, reason="the native API of TensorRT serves no card here")
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_replaced_weights_compute_the_same_as_an_engine_built_of_them(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(device, tmp_path)
    merged = bench.weights | bench.changed
    plain = bench.artifact(bench.weights, refits=False)
    takes = bench.artifact(bench.weights, refits=True)
    base = bench.graph(bench.weights)
    expected = bench.numbers(bench.artifact(merged, refits=False), bench.graph(merged))

    # Biases, too: TensorRT 11.3 documents that REFIT may drop those of products.
    before = bench.numbers(takes, base)
    assert relative_error(before, bench.numbers(plain, base)) < 2e-2
    lora = msgspec.structs.replace(bench.graph(merged), changed=frozenset(bench.changed))
    result = bench.numbers(takes, lora)
    assert relative_error(result, expected) < 2e-2
    assert relative_error(before, expected) > 5e-2
    np.testing.assert_array_equal(bench.numbers(takes, base), before)
    with capsys.disabled():
        times = [1e3 * bench.step_seconds(artifact) for artifact in (plain, takes)]
        told = f"\n{device.name}: a step {times[0]:.2f} ms, refittable {times[1]:.2f} ms"
        print(told)  # noqa: T201
