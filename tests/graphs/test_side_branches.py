"""Side branches compute what merged weights do, in every form of a layer."""

import gc
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from weakref import ref

import msgspec
import numpy as np
import pytest
from onnx import ModelProto

from backends.base import Array, DType, Graph, Session, TensorSpec
from backends.cpu import CpuBackend
from backends.forms import AttentionForm, GeluForm, LayerNormForm, LinearForm, UpsamplingForm
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.graphs.unet import timestep_embedding, unet
from engine.weights.side_branches import RANK_STEP, STRENGTHS, SideBranches
from tests.backends.samples import NeverCancelled, ignore, relative_error
from tests.graphs.branches import RandomBranches
from tests.graphs.networks import (
    PLAIN,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
)
from tests.thinned import thinned

RANDOM = np.random.default_rng(3)
# Forms that ONNX Runtime's processor runs; tests/backends/torch_device/test_fused.py has the rest.
FORMS = {
    "plain": PLAIN,
    "fused products": msgspec.structs.replace(PLAIN, linear=LinearForm.FUSED_MATMUL),
    "attention": msgspec.structs.replace(
        PLAIN, attention=AttentionForm.MULTI_HEAD, gelu=GeluForm.STANDARD
    ),
    "packed": msgspec.structs.replace(PLAIN, attention=AttentionForm.PACKED),
    "sums": msgspec.structs.replace(PLAIN, layer_norm=LayerNormForm.SKIP),
    "transposed": msgspec.structs.replace(PLAIN, upsampling=UpsamplingForm.TRANSPOSED),
}
UNETS = {"sd1": small_unet(), "linear": small_unet(linear=True, depth=2)}


STRENGTHS_OF_BOTH = (1.3, -0.7)


@dataclass(frozen=True)
class Branched:
    """A UNet's weights with two LoRAs beside them, and the same merged."""

    emit: Emit
    feeds: dict[str, Array]
    weights: dict[str, Array]
    branches: RandomBranches
    merged: dict[str, Array]

    def plain(self, form: str, weights: dict[str, Array]) -> Array:
        """The result of these weights without branches."""
        (result,) = (
            _loaded(graph_in_memory(self.emit, weights, FORMS[form])).run(self.feeds).values()
        )
        return result

    def beside(self, form: str, *strengths: tuple[float, float]) -> list[Array]:
        """The results of the branches at each pair of strengths, by one session."""
        given = self.branches.branches
        session = _loaded(graph_in_memory(self.emit, self.weights, FORMS[form], branches=given))
        runs = [session.run(self.feeds | self.branches.feeds(session.inputs, s)) for s in strengths]
        return [result for run in runs for result in run.values()]


def _loaded(graph: Graph) -> Session:
    backend = CpuBackend()
    return backend.load(graph, None, backend.probe()[0], ignore, NeverCancelled())


@pytest.fixture(scope="module", params=UNETS)
def branched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Branched:
    config = UNETS[request.param]
    emit = partial(unet, config=config, halves_evenly=True)
    feeds = {
        "sample": RANDOM.standard_normal((2, config.in_channels, 8, 12), np.float32),
        "timestep_embedding": timestep_embedding(config, 512.0),
        "context": RANDOM.standard_normal((4, 11, config.context_width), np.float32),
    }
    weights = random_weights(emit)
    branches = RandomBranches(tmp_path_factory.mktemp("branches"), weights)
    return Branched(emit, feeds, weights, branches, branches.merged(STRENGTHS_OF_BOTH))


@pytest.mark.parametrize(
    ("branched", "form"),
    thinned(
        [*(("sd1", form) for form in FORMS), ("linear", "attention")],
        [("sd1", "packed"), ("linear", "attention")],
    ),
    indirect=["branched"],
)
def test_branches_of_every_layer_equal_merged_weights(branched: Branched, form: str) -> None:
    (beside,) = branched.beside(form, STRENGTHS_OF_BOTH)
    assert relative_error(beside, branched.plain(form, branched.merged)) < 1e-5


def test_branches_add_nothing_at_strength_0(branched: Branched) -> None:
    plain = branched.plain("attention", branched.weights)
    off, on = branched.beside("attention", (0.0, 0.0), STRENGTHS_OF_BOTH)
    assert relative_error(off, plain) < 1e-6
    assert relative_error(on, plain) > 0.1


def test_a_layer_without_branch_is_written_as_before(tmp_path: Path) -> None:
    """A branch of one projection changes neither the other layers nor their inputs."""
    emit = partial(unet, config=small_unet())
    weights = random_weights(emit)
    layer = "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q"
    branches = RandomBranches(tmp_path, {f"{layer}.weight": weights[f"{layer}.weight"]}).branches
    graphs = [graph_in_memory(emit, weights, PLAIN, branches=used) for used in (None, branches)]
    before, after = (
        Counter(node.op_type for node in ModelProto.FromString(graph.model).graph.node)
        for graph in graphs
    )
    assert after - before == {"MatMul": 2, "Mul": 1, "Add": 1, "Reshape": 1}
    rank = branches.rank
    added = [spec for spec in graphs[1].inputs if spec not in graphs[0].inputs]
    assert added == [
        TensorSpec(f"{layer}.lora_down", DType.F32, (64, rank)),
        TensorSpec(STRENGTHS, DType.F32, (rank,)),
        TensorSpec(f"{layer}.lora_up", DType.F32, (rank, 64)),
    ]
    assert [spec for spec in graphs[1].inputs if spec not in added] == list(graphs[0].inputs)


def test_every_linear_layer_and_convolution_of_a_unet_may_have_a_branch(tmp_path: Path) -> None:
    for config in (
        small_unet(),
        small_unet(linear=True),
        msgspec.structs.replace(small_unet(), added_width=12),
    ):
        emit = partial(unet, config=config)
        weights = random_weights(emit)
        branches = RandomBranches(tmp_path, weights).branches
        graph = graph_in_memory(emit, weights, PLAIN, branches=branches)
        inputs = {spec.name.rpartition(".")[0] for spec in graph.inputs}
        assert inputs >= branches.layers.keys()
        layers = {name.removesuffix(".weight") for name, array in weights.items() if array.ndim > 1}
        assert branches.layers.keys() == layers


def test_factors_are_made_once_and_filled_up_with_zeros(tmp_path: Path) -> None:
    weights = {"a.weight": RANDOM.standard_normal((6, 4)).astype(np.float32)}
    branches = RandomBranches(tmp_path, weights).branches
    assert branches.rank == 2 * RANK_STEP
    specs = (
        TensorSpec("sample", DType.F32, (1, "height")),
        TensorSpec("a.lora_down", DType.F32, (4, 32)),
        TensorSpec("a.lora_up", DType.F32, (32, 6)),
    )
    factors = branches.factors(specs)
    assert {name: array.shape for name, array in factors.items()} == {
        "a.lora_down": (4, 32),
        "a.lora_up": (32, 6),
    }
    # The first LoRA has three places, and the second leaves this layer out.
    assert np.count_nonzero(factors["a.lora_up"].any(axis=1)) == 3
    again = branches.factors(specs)
    assert all(again[name] is array for name, array in factors.items())
    assert branches.strengths((2.0, -1.0)).tolist() == [2.0] * 3 + [-1.0] * 17 + [0.0] * 12


def test_a_lora_whose_file_is_gone_is_named(tmp_path: Path) -> None:
    made = RandomBranches(tmp_path, {"a.weight": np.ones((6, 4), np.float32)})
    (tmp_path / "loras.safetensors").unlink()
    with pytest.raises(EngineError, match=r"loras\.safetensors") as caught:
        made.branches.factors((TensorSpec("a.lora_up", DType.F32, (32, 6)),))
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_factors_that_are_in_use_serve_the_next_job_with_the_same_file(tmp_path: Path) -> None:
    # The second LoRA leaves the first layer out.
    weights = {f"{layer}.weight": np.ones((6, 4), np.float32) for layer in "ab"}
    specs = (
        TensorSpec("b.lora_down", DType.F32, (4, 32)),
        TensorSpec("b.lora_up", DType.F32, (32, 6)),
    )
    made = RandomBranches(tmp_path, weights)
    pinned = made.branches.factors(specs)

    def later(changes: SideBranches | None = None) -> dict[str, Array]:
        """The factors that another job makes."""
        before = made.branches
        return (changes or SideBranches(before.layers, before.ranks)).factors(specs)

    assert all(later()[name] is array for name, array in pinned.items())
    (number, first), *rest = made.branches.layers["b"]
    stronger = {"b": ((number, msgspec.structs.replace(first, strength=2 * first.strength)), *rest)}
    doubled = later(SideBranches(stronger, made.branches.ranks))["b.lora_up"]
    np.testing.assert_array_equal(doubled[:3], 2 * pinned["b.lora_up"][:3])
    moved = later(SideBranches(made.branches.layers, (5, 17)))
    assert not np.array_equal(moved["b.lora_up"], pinned["b.lora_up"])

    # A file that was written anew is read anew.
    RandomBranches(tmp_path, weights, seed=1)
    anew = later()
    assert not any(np.array_equal(anew[name], array) for name, array in pinned.items())


def test_factors_are_freed_with_what_uses_them(tmp_path: Path) -> None:
    weights = {"a.weight": RANDOM.standard_normal((6, 4)).astype(np.float32)}
    made = RandomBranches(tmp_path, weights)
    (factor,) = made.branches.factors((TensorSpec("a.lora_up", DType.F32, (32, 6)),)).values()
    held = ref(factor)
    del factor, made
    gc.collect()
    assert held() is None
