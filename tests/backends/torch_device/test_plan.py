"""The plan of a graph: what is fused, what is overwritten, when each value is dead."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper

from backends.base import BackendError, Device, DType, Graph
from backends.torch_device import TorchBackend
from backends.torch_device.plan import Plan, make_plan
from engine.graphs.clip_text import clip_text
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import unet
from engine.graphs.vae import vae_decoder, vae_encoder
from tests.graphs.networks import (
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
)

OPERATORS = TorchBackend().operators(Device("torch_device", "cpu", "a processor"))
NETWORKS: dict[str, Emit] = {
    "unet": partial(unet, config=small_unet()),
    "decoder": partial(vae_decoder, config=SMALL_VAE),
    "encoder": partial(vae_encoder, config=SMALL_VAE),
    "clip": partial(clip_text, config=SMALL_CLIP),
}
every_network = pytest.mark.parametrize("name", NETWORKS)


def graph_of(emit: Emit, element: DType = DType.F32) -> Graph:
    return graph_in_memory(emit, random_weights(emit), OPERATORS, element)


def planned(emit: Emit) -> Plan:
    return make_plan(graph_of(emit).model)


def small(*, twice: bool = False) -> Emit:
    """A linear layer, SiLU, and a sum; `twice` needs both once more."""

    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", 4))
        product = g.op("FusedMatMul", x, g.weight("w", (4, 4)), domain="com.microsoft", transB=1)
        y = g.op("Add", product, g.weight("b", (4,)))
        gate = g.op("Sigmoid", y)
        z = g.op("Mul", y, gate)
        z = g.op("Add", z, x)
        if twice:
            z = g.op("Add", g.op("Add", z, product), gate)
        g.output(z, "z", DType.F32, ("batch", 4))

    return emit


def kinds(plan: Plan) -> list[str]:
    return [step.kind for step in plan.steps]


# --- fusing ---


def test_a_layer_and_its_activation_are_two_operators() -> None:
    plan = planned(small())
    assert kinds(plan) == ["Linear", "SiluInto", "AddInto", "Identity"]
    linear, silu, add, _ = plan.steps
    assert linear.inputs == ("x", "w", "b")
    assert silu.inputs == (linear.output,)
    assert add.inputs == (silu.output, "x")


def test_a_value_used_again_is_not_fused_away() -> None:
    plan = planned(small(twice=True))
    assert kinds(plan)[:4] == ["FusedMatMul", "Add", "Sigmoid", "Mul"]


def test_a_sum_without_a_bias_is_not_a_linear_layer() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", 4))
        y = g.op("FusedMatMul", x, g.weight("w", (4, 4)), domain="com.microsoft", transB=1)
        g.output(g.op("Add", y, g.weight("b", (4, 4))), "y", DType.F32, ("batch", 4))

    assert kinds(planned(emit)) == ["FusedMatMul", "AddInto", "Identity"]


def test_only_own_memory_without_other_uses_is_overwritten() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", 4))
        h = g.gelu(x)
        y = g.op("Add", x, h)  # the second is new
        view = g.op("Reshape", y, g.integers([-1, 2, 2]))
        tokens = g.op("Reshape", g.op("Add", y, x), g.integers([-1, 2, 2]))
        g.output(g.op("Add", tokens, view), "y", DType.F32, ("batch", 2, 2))

    first, second, third = (s for s in planned(emit).steps if s.kind.startswith("Add"))
    assert (first.kind, first.inputs) == ("AddInto", ("Gelu_0", "x"))
    assert second.kind == "Add"  # `view` looks into it
    assert third.kind == "Add"  # a view's memory may be somebody's


@every_network
def test_every_bias_and_every_silu_is_fused(name: str) -> None:
    plan = planned(NETWORKS[name])
    by_output = {step.output: step for step in plan.steps}
    for step in plan.steps:
        if step.kind in {"Add", "AddInto"}:
            producers = [by_output[n].kind for n in step.inputs if n in by_output]
            assert "FusedMatMul" not in producers
        if step.kind in {"Mul", "MulInto"} and "Sigmoid" in step.inputs[0] + step.inputs[1]:
            assert name == "clip"  # its activation is another one
    assert "MatMul" not in kinds(plan)


# --- liveness ---


@every_network
def test_each_value_lives_from_its_step_to_its_last_use(name: str) -> None:
    plan = planned(NETWORKS[name])
    graph = graph_of(NETWORKS[name])
    kept = {*graph.weights, *plan.constants, *plan.host_constants}
    alive = {spec.name for spec in graph.inputs}
    last_use = {value: i for i, step in enumerate(plan.steps) for value in step.inputs}
    for i, step in enumerate(plan.steps):
        assert {value for value in step.inputs if value} <= alive | kept
        alive.add(step.output)
        for value in step.dead:
            assert last_use.get(value, i) == i
            alive.remove(value)
    assert alive == set(plan.outputs)


def test_few_values_are_alive_at_once() -> None:
    """In the decoder no skips: the way's own value, a block's residual, and shapes."""
    plan = planned(NETWORKS["decoder"])
    alive, most = {"latent"}, 0
    for step in plan.steps:
        alive.add(step.output)
        most = max(most, len(alive))
        alive -= set(step.dead)
    assert most <= 5


def test_a_value_that_nobody_needs_is_dead_at_once() -> None:
    def emit(g: GraphBuilder) -> None:
        # A graph of our own has no such node.
        g.is_foreign = True
        x = g.input("x", DType.F32, ("batch", 4))
        g.gelu(x)
        g.output(x, "y", DType.F32, ("batch", 4))

    unneeded, last = planned(emit).steps
    assert unneeded.dead == (unneeded.output,)
    assert last.dead == ("x",)


# --- shapes on the host ---


def test_shapes_stay_on_the_host() -> None:
    plan = planned(NETWORKS["unet"])
    counted = Counter(kinds(plan))
    assert counted["HostDiv"] == 1
    assert counted["HostConcat"]
    assert not counted["Div"]
    for step in plan.steps:
        if step.kind == "Reshape":
            assert step.inputs[1] in plan.host_constants or step.inputs[1].startswith("Shape")
    assert all(isinstance(value, tuple) for value in plan.host_constants.values())
    # of numbers that networks compute with, the UNet has none
    assert plan.constants == {}


def test_numbers_to_compute_with_keep_their_type() -> None:
    for element, number in ((DType.F32, TensorProto.FLOAT), (DType.BF16, TensorProto.BFLOAT16)):
        plan = make_plan(graph_of(NETWORKS["clip"], element).model)
        assert plan.element == number
        ((type_number, array),) = plan.constants.values()
        assert type_number == number
        np.testing.assert_allclose(np.asarray(array, np.float32), 1.702, rtol=1e-2)


# --- what it refuses ---


def model_of(*nodes: NodeProto) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph(list(nodes), "graph", [x], [y])
    return helper.make_model(graph).SerializeToString()


@pytest.mark.parametrize(
    ("node", "named"),
    [
        (helper.make_node("BiasGelu", ["x"], ["y"], domain="com.microsoft"), "BiasGelu"),
        (helper.make_node("FusedMatMul", ["x"], ["y"], domain="elsewhere"), "elsewhere"),
        (helper.make_node("Split", ["x"], ["y", "z"]), "Split"),
        (helper.make_node("Reshape", ["x", "x"], ["y"]), "x"),
    ],
    ids=["operator", "domain", "outputs", "shape_from_numbers"],
)
def test_an_unknown_operator_is_refused_by_name(node: NodeProto, named: str) -> None:
    with pytest.raises(BackendError, match=named):
        make_plan(model_of(node))


def test_weights_of_two_types_are_refused() -> None:
    def tensor(name: str, number: int) -> TensorProto:
        return TensorProto(
            name=name, data_type=number, dims=(1,), data_location=TensorProto.EXTERNAL
        )

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    weights = [tensor("a", TensorProto.FLOAT), tensor("b", TensorProto.FLOAT16)]
    graph = helper.make_graph([], "graph", [x], [x], weights)
    with pytest.raises(BackendError, match="type"):
        make_plan(helper.make_model(graph).SerializeToString())
