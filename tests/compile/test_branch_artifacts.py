"""A compiled network with side branches serves every LoRA of similar ranks at every strength."""

from functools import partial
from pathlib import Path

import msgspec
import pytest

from backends.base import DimensionRange, Precision, ShapeSupport
from backends.null import Compiling, NullBackend
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.graphs.unet import unet
from engine.weights.patched import FullDifference
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.graphs.branches import RandomBranches
from tests.graphs.networks import random_weights, small_unet
from tests.weights.files import write_sources

_SIZES = ("batch", "height", "width", "contexts", "tokens")


@pytest.fixture
def network(tmp_path: Path) -> Network:
    """A small denoiser in a file."""
    emit = partial(unet, config=small_unet())
    weights = write_sources(tmp_path / "unet.safetensors", random_weights(emit))
    dimensions = {name: DimensionRange(1, 2, 64) for name in _SIZES}
    return Network("denoiser", emit, WeightSet("unet", weights), dimensions)


def compiler_in(folder: Path) -> Compiler:
    """A compiler whose artifacts carry their weights."""
    backend = NullBackend(compiling=Compiling(ShapeSupport.RANGES, carries_weights=True))
    store = ArtifactStore(folder / "compiled")
    return Compiler(backend, backend.probe()[0], WorkingCopies(folder / "weights"), store)


def beside(network: Network, folder: Path, seed: int) -> Network:
    """The denoiser with side branches of random factors."""
    folder.mkdir()
    random = RandomBranches(folder, random_weights(network.emit), seed)
    return msgspec.structs.replace(network, branches=random.branches)


def test_loras_of_similar_ranks_share_an_artifact(network: Network, tmp_path: Path) -> None:
    compiler = compiler_in(tmp_path)
    names = {
        compiler.prepared(
            beside(network, tmp_path / str(seed), seed), Precision.F32
        ).artifact_name()
        for seed in (1, 2)
    }
    assert len(names) == 1
    assert names != {compiler.prepared(network, Precision.F32).artifact_name()}


def test_merged_weights_have_an_artifact_of_their_own(network: Network, tmp_path: Path) -> None:
    compiler, name = compiler_in(tmp_path), "conv_in.weight"

    def merged(strength: float) -> Network:
        patch = FullDifference(network.weights[name], strength)
        return msgspec.structs.replace(
            network, weights=network.weights.patched("lora", {name: [patch]})
        )

    names = {
        compiler.prepared(variant, Precision.F32).artifact_name()
        for variant in (network, merged(0.5), merged(0.6))
    }
    assert len(names) == 3
