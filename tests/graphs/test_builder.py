"""A built graph is complete, valid, the same every time, and without a weight in it."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto

from backends.base import (
    ComputedArray,
    DType,
    FileSlice,
    Graph,
    OperatorSet,
    Precision,
    TensorSpec,
    WeightRef,
)
from backends.forms import AttentionForm, GeluForm, GroupNormForm, LinearForm, UpsamplingForm
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import Component, identify
from engine.graphs.clip_text import clip_text
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetConfig, unet
from engine.graphs.vae import vae_decoder, vae_encoder
from engine.weights.sources import WeightSource, as_sources
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.graphs.networks import PLAIN, SMALL_CLIP, SMALL_VAE, Emit, small_unet, wanted
from tests.thinned import thinned

NETWORKS: dict[str, Emit] = {
    "clip_text": lambda g: clip_text(g, SMALL_CLIP),
    "unet": lambda g: unet(g, small_unet()),
    "unet_even": lambda g: unet(g, small_unet(), halves_evenly=True),
    "unet_linear": lambda g: unet(g, small_unet(linear=True, depth=2)),
    "vae_decoder": lambda g: vae_decoder(g, SMALL_VAE),
    "vae_encoder": lambda g: vae_encoder(g, SMALL_VAE),
}
every_network = pytest.mark.parametrize("emit", NETWORKS.values(), ids=NETWORKS)
FORMS = [
    OperatorSet(
        opset=23,
        elements=(DType.F32, DType.BF16),
        attention=attention,
        group_norm=group_norm,
        gelu=gelu,
        linear=linear,
        upsampling=upsampling,
    )
    for attention, group_norm, gelu, linear, upsampling in product(
        # Those that go with any layout and any element type; test_fused has the others.
        (AttentionForm.PRIMITIVE, AttentionForm.STANDARD, AttentionForm.MULTI_HEAD),
        (GroupNormForm.INSTANCE, GroupNormForm.STANDARD),
        *(GeluForm, LinearForm, UpsamplingForm),
    )
]


def builder(
    weights: Mapping[str, FileSlice | WeightSource],
    operators: OperatorSet = PLAIN,
    element: DType = DType.F32,
) -> GraphBuilder:
    return GraphBuilder("denoiser", weights, operators, element, Precision.F32)


def built(emit: Emit, operators: OperatorSet = PLAIN, element: DType = DType.F32) -> Graph:
    weights = {
        name: msgspec.structs.replace(ref, dtype=element) for name, ref in wanted(emit).items()
    }
    g = builder(weights, operators, element)
    emit(g)
    return g.build(_bound(g))


def _bound(g: GraphBuilder) -> dict[str, WeightRef]:
    """Bind weights in files by reference, and zeros for derived ones: only their sizes count."""
    return {
        name: source.slice_as(source.dtype)
        or ComputedArray(np.zeros(source.shape, g.element.numpy), g.element)
        for name, source in g.used.items()
    }


@every_network
@pytest.mark.parametrize("element", thinned([DType.F32, DType.BF16, DType.F16], [DType.F16]))
def test_every_form_of_a_graph_is_valid_onnx(emit: Emit, element: DType) -> None:
    for operators in FORMS[::5]:  # every form of every operator is among them
        graph = built(emit, operators, element)
        model = onnx.ModelProto.FromString(graph.model)
        for tensor in model.graph.initializer:  # the checker wants to see the data
            if tensor.data_location == TensorProto.EXTERNAL:
                tensor.ClearField("external_data")
                tensor.ClearField("data_location")
                tensor.raw_data = bytes(graph.weights[tensor.name].nbytes)
        onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]


@every_network
def test_weights_are_external_under_their_own_names(emit: Emit) -> None:
    graph = built(emit)
    model = onnx.ModelProto.FromString(graph.model)
    external = {
        tensor.name: {entry.key: entry.value for entry in tensor.external_data}
        for tensor in model.graph.initializer
        if tensor.data_location == TensorProto.EXTERNAL
    }
    assert external == {name: {"location": name} for name in graph.weights}
    # A part of a weight, and what is derived from one, say so after its name.
    assert {re.split(r"[\[:]", name)[0] for name in graph.weights} == wanted(emit).keys()


@every_network
def test_inputs_and_outputs_are_float32_whatever_the_element_type(emit: Emit) -> None:
    for element in (DType.F32, DType.BF16):
        graph = built(emit, element=element)
        specs = (*graph.inputs, *graph.outputs)
        assert {spec.dtype for spec in specs} <= {DType.F32, DType.I64}
        model = onnx.ModelProto.FromString(graph.model).graph
        assert [i.name for i in model.input] == [spec.name for spec in graph.inputs]
        assert [o.name for o in model.output] == [spec.name for spec in graph.outputs]
        types = {o.type.tensor_type.elem_type for o in model.output}
        assert types == {TensorProto.FLOAT}


def test_the_specs_state_the_shapes_of_outputs() -> None:
    decoder, encoder = built(NETWORKS["vae_decoder"]), built(NETWORKS["vae_encoder"])
    assert decoder.outputs == (TensorSpec("image", DType.F32, ("batch", 3, "4*height", "4*width")),)
    assert encoder.outputs == (
        TensorSpec("moments", DType.F32, ("batch", 8, "height/4", "width/4")),
    )


# --- the audit of weights ---


@every_network
def test_a_missing_weight_is_refused(emit: Emit) -> None:
    weights = wanted(emit)
    for name in list(weights)[:: max(1, len(weights) // 20)]:
        partial_weights = {key: ref for key, ref in weights.items() if key != name}
        assert_mismatch(emit, partial_weights, name, "is missing")


@every_network
def test_a_weight_of_another_shape_is_refused(emit: Emit) -> None:
    weights = wanted(emit)
    for name, ref in list(weights.items())[:: max(1, len(weights) // 20)]:
        wrong = msgspec.structs.replace(ref, shape=(*ref.shape[:-1], ref.shape[-1] + 1))
        assert_mismatch(emit, weights | {name: wrong}, name, str(list(wrong.shape)))


def assert_mismatch(emit: Emit, weights: dict[str, FileSlice], *words: str) -> None:
    with pytest.raises(EngineError) as caught:
        emit(builder(weights))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert caught.value.hint
    for word in words:
        assert word in caught.value.message


def test_unused_weights_are_named() -> None:
    emit = NETWORKS["clip_text"]
    weights = wanted(emit)
    extra = FileSlice(Path("nowhere"), 0, DType.F32, (7,))
    g = builder(weights | {"text_model.extra": extra})
    emit(g)
    assert g.unused() == ("text_model.extra",)
    assert g.used == as_sources(weights)


def test_clip_skip_leaves_the_last_layers_unused() -> None:
    weights = wanted(NETWORKS["clip_text"])
    g = builder(weights)
    clip_text(g, SMALL_CLIP, 2)
    assert set(g.unused()) == {name for name in weights if ".layers.2." in name}


# --- the same every time ---


def digests() -> str:
    """One line for all networks in two forms."""
    parts = [built(emit, form).model for emit in NETWORKS.values() for form in (PLAIN, FORMS[-1])]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_the_bytes_are_the_same_in_every_process() -> None:
    here = digests()
    assert digests() == here
    code = "from tests.graphs.test_builder import digests; print(digests())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
    )
    assert run.stdout.strip() == here, run.stderr


def test_the_element_type_and_the_form_are_in_the_bytes() -> None:
    emit = NETWORKS["unet_even"]
    seen = {built(emit, form, element).model for form in FORMS for element in form.elements}
    assert len(seen) == 2 * len(FORMS)


def test_the_whole_sd15_unet_is_emitted_from_names_and_shapes_alone(tmp_path: Path) -> None:
    """The weights are a hole in a file that is gone by then: nothing can have been read."""
    path = write_sparse(tmp_path / "sd15.safetensors", listings.original())
    source = identify(path).components[Component.DENOISER]
    path.unlink()
    assert isinstance(source.config, UNetConfig)
    g = builder(source.weights)
    unet(g, source.config)
    assert g.unused() == ()
    graph = g.build(_bound(g))
    assert sum(ref.nbytes for ref in graph.weights.values()) == 2 * 859_520_964
    assert len(graph.model) < 1_000_000


def test_a_constant_is_written_once() -> None:
    g = builder({})
    again: Callable[[], str] = partial(g.constant, [1.0, 2.0])
    assert again() == again()
    assert again() != g.constant([1.0, 2.5])
    assert again() != g.constant([[1.0, 2.0]])
    assert again() != g.constant([1.0, 2.0], DType.BF16)
    assert g.integers([1]) != g.constant([1.0])


def test_nodes_of_which_nothing_leaves_the_graph_are_left_out() -> None:
    """ONNX Runtime would run them, and hold what they take to the end of the run."""
    g = GraphBuilder("tiny", {}, PLAIN, DType.F32, Precision.F32)
    x = g.input("x", DType.F32, ("rows", 8))
    y = g.op("Neg", x)
    g.op("Shape", g.op("Abs", y), start=0, end=1)
    g.output(g.op("Exp", y), "y", DType.F32, ("rows", 8))
    nodes = onnx.load_from_string(g.build({}).model).graph.node
    assert [node.op_type for node in nodes] == ["Neg", "Exp", "Identity"]


def test_weights_and_constants_that_only_such_nodes_take_are_left_out() -> None:
    """Neither its bytes are counted nor is it read: a graph's weights are those that it uses."""

    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("rows", 8))
        g.op("Mul", g.linear(x, "left out", (8, 8)), g.constant(3.0))
        g.output(g.linear(x, "kept", (8, 8)), "y", DType.F32, ("rows", 8))

    g = builder(wanted(emit))
    emit(g)
    graph = g.build({})
    kept = ["kept.weight", "kept.bias"]
    assert [*g.used] == [*graph.weight_sizes] == kept
    found = onnx.load_from_string(graph.model).graph
    assert [tensor.name for tensor in found.initializer] == kept
