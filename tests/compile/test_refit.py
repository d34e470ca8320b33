"""An artifact that carries weights is made once; LoRAs are other weights for the same artifact."""

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, Backend, DimensionRange, Precision, Session
from backends.cpu import CpuBackend
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.errors import EngineError
from engine.graphs.unet import timestep_embedding, unet
from engine.memory.plan import WeightPlacement
from engine.weights.patched import FullDifference
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.compile.carrying import CarryingBackend
from tests.graphs.networks import random_weights, small_unet
from tests.weights.files import write_sources

_SIZES = ("batch", "height", "width", "contexts", "tokens")
_LINEAR, _CONVOLUTION = "time_embedding.linear_1.weight", "conv_in.weight"


class Bench:
    """A small denoiser, and a compiler whose artifacts carry weights."""

    def __init__(self, folder: Path) -> None:
        emit = partial(unet, config=small_unet())
        weights = write_sources(folder / "unet.safetensors", random_weights(emit))
        dimensions = {name: DimensionRange(1, 2, 64) for name in _SIZES}
        self.network = Network("denoiser", emit, WeightSet("unet", weights), dimensions)
        self.folder, self.backend = folder, CarryingBackend()
        random = np.random.default_rng(1)
        self.feeds = {
            "sample": random.standard_normal((1, 4, 8, 8), np.float32),
            "timestep_embedding": timestep_embedding(small_unet(), 500.0),
            "context": random.standard_normal((2, 77, small_unet().context_width), np.float32),
        }

    def compiler(self, backend: Backend | None = None, *, refits: bool = True) -> Compiler:
        given = backend or self.backend
        store = ArtifactStore(self.folder / "compiled")
        copies = WorkingCopies(self.folder / "weights")
        return Compiler(given, given.probe()[0], copies, store, refits=refits)

    def patched(self, lora: str, strength: float, *names: str) -> Network:
        """The denoiser with a LoRA that doubles some weights at strength 1."""
        patches = {
            name: [FullDifference(self.network.weights[name], strength)] if strength else []
            for name in names
        }
        return msgspec.structs.replace(
            self.network, weights=self.network.weights.patched(lora, patches)
        )

    def session(self, network: Network, compiler: Compiler | None = None) -> Session:
        def report(_done: int, _total: int) -> None:
            pass

        given, memory = compiler or self.compiler(), WeightPlacement.MEMORY
        return given.load(network, Precision.F32, memory, report, CancelToken())

    def numbers(self, network: Network, compiler: Compiler | None = None) -> Array:
        session = self.session(network, compiler)
        try:
            return session.run(self.feeds)["prediction"]
        finally:
            session.close()

    def merged(self, network: Network) -> Array:
        """The numbers where nothing is compiled."""
        return self.numbers(network, self.compiler(CpuBackend()))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_loras_share_the_artifact_of_the_checkpoint(bench: Bench) -> None:
    first = bench.patched("one", 0.5, _LINEAR)
    second = bench.patched("two", -0.7, _LINEAR, _CONVOLUTION)
    found = [bench.numbers(network) for network in (bench.network, first, second)]
    assert bench.backend.compiled == ["denoiser"]
    assert [names for _, names in bench.backend.replaced] == [
        frozenset(),
        {_LINEAR},
        {_LINEAR, _CONVOLUTION},
    ]
    for network, numbers in zip((bench.network, first, second), found, strict=True):
        np.testing.assert_array_equal(numbers, bench.merged(network))
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])


def test_the_first_artifact_is_of_the_checkpoint_even_where_a_lora_asks_for_it(
    bench: Bench,
) -> None:
    bench.numbers(bench.patched("one", 0.5, _CONVOLUTION))
    plain = bench.numbers(bench.network)
    assert bench.backend.compiled == ["denoiser"]
    np.testing.assert_array_equal(plain, bench.merged(bench.network))


def test_strength_zero_is_the_checkpoint_again(bench: Bench) -> None:
    plain = bench.numbers(bench.network)
    bench.numbers(bench.patched("one", 0.5, _LINEAR))
    none = bench.patched("one", 0.0, _LINEAR)
    np.testing.assert_array_equal(bench.numbers(none), plain)
    assert bench.backend.replaced[-1] == ("denoiser", frozenset())
    assert len(bench.backend.compiled) == 1


def test_the_session_of_another_lora_is_another_one(bench: Bench) -> None:
    """Else the networks kept between jobs would be used with old weights."""
    prepared = [
        bench.compiler().prepared(network, Precision.F32)
        for network in (bench.network, bench.patched("a", 0.5, _LINEAR))
    ]
    assert len({prepared_network.artifact_name() for prepared_network in prepared}) == 1
    assert len({prepared_network.identity() for prepared_network in prepared}) == 2


def test_another_checkpoint_has_an_artifact_of_its_own(bench: Bench, tmp_path: Path) -> None:
    weights = write_sources(tmp_path / "b.safetensors", random_weights(bench.network.emit, 3))
    other = msgspec.structs.replace(bench.network, weights=WeightSet("other", weights))
    np.testing.assert_array_equal(bench.numbers(other), bench.merged(other))
    np.testing.assert_array_equal(bench.numbers(bench.network), bench.merged(bench.network))
    assert len(bench.backend.compiled) == 2


def test_a_failed_refit_says_so_and_keeps_the_artifact(bench: Bench) -> None:
    bench.numbers(bench.network)
    bench.backend.refuses = True
    with pytest.raises(EngineError) as caught:
        bench.session(bench.patched("one", 0.5, _LINEAR))
    assert caught.value.code is ErrorCode.REFIT_FAILED
    assert caught.value.detail == "these weights cannot be replaced"
    bench.numbers(bench.network)
    assert bench.backend.compiled == ["denoiser"]


@pytest.mark.parametrize("cause", ["the backend", "the device failed"])
def test_without_refits_each_strength_is_compiled(bench: Bench, cause: str) -> None:
    if cause == "the backend":
        bench.backend = CarryingBackend(refits=False)
    for strength in (0.5, 0.6):
        network = bench.patched("one", strength, _LINEAR)
        compiler = bench.compiler(refits=cause == "the backend")
        np.testing.assert_array_equal(bench.numbers(network, compiler), bench.merged(network))
    assert len(bench.backend.compiled) == 2
    assert {names for _, names in bench.backend.replaced} == {frozenset[str]()}
