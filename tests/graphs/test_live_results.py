"""Shapes of results beside those that ONNX Runtime computes, and what is held of them at once."""

from collections.abc import Mapping
from functools import cache, partial

import msgspec
import numpy as np
import pytest
from onnx import ModelProto, ValueInfoProto, numpy_helper

from backends.base import (
    Array,
    BackendError,
    Device,
    DType,
    Graph,
    HeldResults,
    OperatorSet,
    Precision,
    TensorSpec,
    size_of,
)
from backends.cpu import CpuBackend
from backends.forms import AttentionForm, UpsamplingForm
from backends.registry import BACKENDS
from engine.cancel import CancelToken
from engine.graphs.chroma import ChromaConfig, chroma
from engine.graphs.clip_text import ClipTextConfig, Projection, clip_text
from engine.graphs.clip_vision import ClipVisionConfig, clip_vision
from engine.graphs.control_net import ControlNetConfig, control_net, map_embedding
from engine.graphs.flux_control import FluxControlConfig, flux_control
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.ip_adapter import IpAdapterConfig, Resampler, ip_adapter
from engine.graphs.live_results import held_results
from engine.graphs.operators import GraphBuilder
from engine.graphs.qwen3 import Qwen3Config, qwen3_encoder
from engine.graphs.result_shapes import ResultShapes
from engine.graphs.sd3 import Sd3Config, sd3
from engine.graphs.t5 import T5Config, t5_encoder
from engine.graphs.unet import unet
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder
from tests.graphs.networks import (
    PLAIN,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
    wanted,
)
from tests.graphs.wide_jobs import WIDE, encoder_of
from tests.graphs.wide_networks import NETWORKS, WideNetwork
from tests.thinned import thinned

_BACKEND = CpuBackend()
_DEVICE = Device("cpu", "cpu", "")
_CPU = _BACKEND.operators(_DEVICE)
FUSED = msgspec.structs.replace(PLAIN, attention=AttentionForm.MULTI_HEAD)
_FORMS = {
    "plain": PLAIN,
    "cpu": _CPU,
    "transposed": msgspec.structs.replace(PLAIN, upsampling=UpsamplingForm.TRANSPOSED),
}
_SIZES = {
    "batch": 1,
    "contexts": 2,
    "tokens": 5,
    "height": 24,
    "width": 16,
    "patches": 96,
    "positions": 101,
    "rows": 2,
    "maps": 2,
    "map_height": 192,
    "map_width": 128,
}
_WORDS = 20
_SD3 = Sd3Config(
    channels=4,
    width=64,
    heads=2,
    mlp_width=128,
    context_width=24,
    pooled_width=16,
    blocks=2,
    places=24,
    normalised=True,
    dual_blocks=(0,),
)
_CHROMA = ChromaConfig(
    in_channels=16,
    out_channels=16,
    width=32,
    heads=2,
    mlp_width=64,
    context_width=24,
    double_blocks=1,
    single_blocks=1,
    axes=(4, 6, 6),
    waves=16,
    approximator_width=32,
    approximator_layers=1,
)
_T5 = T5Config(_WORDS, width=32, heads=2, head_width=16, mlp_width=64, layers=2)
_QWEN3 = Qwen3Config(_WORDS, width=32, heads=4, key_heads=2, head_width=16, mlp_width=64, layers=3)
_CLIP = ClipTextConfig(
    _WORDS, 32, 64, layers=2, heads=2, projection=Projection.LINEAR, projected_width=16
)
_VISION = ClipVisionConfig(32, 64, layers=2, heads=2, projected_width=16, side=28)
_ADAPTER = IpAdapterConfig(32, 24, Resampler(4, 32, 64, layers=1, heads=2))
_ATTENDING = AttendingLayer("down_blocks.1.attentions.0.transformer_blocks.0.attn2", 64, 1, 0)
_FLUX_CONTROL = FluxControlConfig(
    in_channels=16,
    out_channels=16,
    width=32,
    heads=2,
    mlp_width=64,
    context_width=24,
    double_blocks=1,
    single_blocks=1,
    axes=(4, 6, 6),
    pooled_width=16,
)
_CONTROL = ControlNetConfig(encoder_of(small_unet()), map_widths=(8, 8, 16, 16))
_PACKED_VAE = VaeConfig(latent_channels=16, widths=(16, 32), layers=1, norm_groups=8, patch=2)
_SMALL: Mapping[str, Emit] = {
    "unet": partial(unet, config=small_unet(), halves_evenly=True),
    "unet of odd sizes": partial(unet, config=small_unet(linear=True)),
    "decoder": partial(vae_decoder, config=SMALL_VAE),
    "encoder": partial(vae_encoder, config=SMALL_VAE),
    "packed decoder": partial(vae_decoder, config=_PACKED_VAE),
    "packed encoder": partial(vae_encoder, config=_PACKED_VAE),
    "clip": partial(clip_text, config=_CLIP, attention_mask=True, inserted=True),
    "t5": partial(t5_encoder, config=_T5, masked=True),
    "qwen3": partial(qwen3_encoder, config=_QWEN3, after=(1, 3)),
    "clip vision": partial(clip_vision, config=_VISION, states=True),
    "image prompts": partial(ip_adapter, config=_ADAPTER, layers=(_ATTENDING,), seen_tokens=5),
    "map of a ControlNet": partial(map_embedding, config=_CONTROL),
    "ControlNet": partial(control_net, config=_CONTROL),
    "ControlNet of tokens": partial(flux_control, config=_FLUX_CONTROL),
    "sd3": partial(sd3, config=_SD3),
    "chroma": partial(chroma, config=_CHROMA),
}
# One of each kind of network.
_KINDS = (
    ("denoiser", "SD 1"),
    ("denoiser", "Flux.1"),
    ("denoiser", "FLUX.2 klein"),
    ("denoiser", "SD 3.5 medium"),
    ("denoiser", "Z-Image"),
    ("decoder", "FLUX.2 klein"),
    ("encoder", "T5"),
    ("encoder", "Qwen3 4B"),
    ("step", "SD 1 with a reference"),
)


def every_result(graph: Graph) -> dict[str, tuple[int, ...]]:
    """The shapes of all that ONNX Runtime computes for a graph, by name."""
    model = ModelProto.FromString(graph.model)
    names = [name for node in model.graph.node for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(ValueInfoProto(name=name) for name in names)
    specs = tuple(TensorSpec(name, DType.F32, ()) for name in names)
    whole = msgspec.structs.replace(graph, model=model.SerializeToString(), outputs=specs)
    session = _BACKEND.load(whole, None, _DEVICE, lambda _: None, CancelToken())
    random = np.random.default_rng(0)
    feeds: dict[str, Array] = {
        spec.name: random.standard_normal(shape, np.float32)
        if spec.dtype is DType.F32
        else np.zeros(shape, np.int64)
        for spec in graph.inputs
        for shape in [[size_of(n, _SIZES) for n in spec.shape]]
    }
    return {name: array.shape for name, array in session.run(feeds).items()}


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("name", _SMALL)
def test_shapes_are_those_that_the_runtime_computes(name: str, form: str) -> None:
    emit = _SMALL[name]
    graph = graph_in_memory(emit, random_weights(emit), _FORMS[form])
    model = ModelProto.FromString(graph.model).graph
    shapes = ResultShapes(
        {spec.name: tuple(size_of(n, _SIZES) for n in spec.shape) for spec in graph.inputs}
        | {initializer.name: tuple(initializer.dims) for initializer in model.initializer},
        {
            initializer.name: numpy_helper.to_array(initializer).astype(np.int64)
            for initializer in model.initializer
            if not initializer.external_data
        },
    )
    computed = every_result(graph)
    for node in model.node:
        shapes.add(node)
        for result in node.output:
            assert shapes[result] == computed[result], node


@pytest.mark.parametrize(
    ("kind", "name", "backend"),
    thinned(
        [(*kind, reference.name) for kind in _KINDS for reference in BACKENDS],
        # Every family in some operators, and some families in all.
        [
            *((*kind, "cpu") for kind in _KINDS),
            *((*kind, reference.name) for kind in _KINDS[:2] for reference in BACKENDS),
        ],
    ),
)
def test_results_of_every_family_are_counted_in_every_backends_operators(
    kind: str, name: str, backend: str
) -> None:
    network = WIDE[kind][name]
    runtime = next(reference for reference in BACKENDS if reference.name == backend).create()
    try:
        operators = runtime.operators(Device(backend, "cpu", ""))
    except BackendError:
        pytest.skip("its operators depend on the card")
    counted = held_results(counting(network, operators), network.sizes(512, 512, 1)).at_once
    plain, fused = plain_and_fused(kind, name)
    assert 0.4 * fused < counted < 1.5 * plain


@cache
def plain_and_fused(kind: str, name: str) -> tuple[int, int]:
    """The most numbers that a network holds at once in these operators."""
    network = WIDE[kind][name]
    plain, fused = (
        held_results(counting(network, operators), network.sizes(512, 512, 1)).at_once
        for operators in (PLAIN, FUSED)
    )
    return plain, fused


def counting(network: WideNetwork, operators: OperatorSet) -> Graph:
    """A network's graph without weights."""
    g = GraphBuilder("counted", wanted(network.emit), operators, DType.F32, Precision.F32)
    network.emit(g)
    return g.build({})


def test_fused_attention_holds_no_scores() -> None:
    network = NETWORKS["denoiser"]["Flux.1"]
    sizes = network.sizes(512, 512, 1)
    positions, heads, width = 1024 + 512, 24, 3072
    scores = heads * positions**2
    counted = held_results(counting(network, FUSED), sizes)
    assert held_results(counting(network, PLAIN), sizes).at_once > scores > counted.at_once
    assert counted.by_heads == 3 * positions * width


def test_a_bias_that_is_a_product_holds_no_scores_where_keys_may_be_wide() -> None:
    network = NETWORKS["denoiser"]["Chroma"]
    sizes = network.sizes(512, 512, 1)
    positions, heads, width = 1024 + 512, 24, 3072
    scores = heads * positions**2
    counted = held_results(counting(network, _CPU), sizes)
    added = msgspec.structs.replace(_CPU, wide_keys=False)
    assert held_results(counting(network, added), sizes).at_once > scores
    assert counted.at_once < scores
    # A number of each head beside its queries and keys.
    assert counted.by_heads == (3 * width + 2 * heads) * positions


def test_more_contexts_and_cells_hold_more_results() -> None:
    network = NETWORKS["denoiser"]["SD 3 medium"]
    graph = counting(network, FUSED)
    single, double, large = (
        held_results(graph, network.sizes(*size))
        for size in ((512, 512, 1), (512, 512, 2), (1024, 1024, 1))
    )
    for count in ("at_once", "by_heads", "grouped"):
        first, second, third = (getattr(held, count) for held in (single, double, large))
        assert second == pytest.approx(2 * first, rel=0.01)
        # Four times the cells, and the same text.
        assert 3 * first < third < 4 * first


def test_results_that_leave_a_run_are_held_to_its_end() -> None:
    def chain(g: GraphBuilder, *, shows: bool) -> None:
        x = g.input("x", DType.F32, ("rows", 8))
        for name in "abcd":
            x = g.linear(x, name, (8, 8), bias=False)
            if shows:
                g.output(x, f"shown {name}", DType.F32, ("rows", 8))
        g.output(g.op("Neg", x), "y", DType.F32, ("rows", 8))

    found: list[HeldResults] = []
    for shows in (False, True):
        emit = partial(chain, shows=shows)
        g = GraphBuilder("chain", wanted(emit), _CPU, DType.F32, Precision.F32)
        emit(g)
        found.append(held_results(g.build({}), {"rows": 5}))
    assert [held.leaving for held in found] == [40, 5 * 40]
    assert [held.at_once for held in found] == [2 * 40, 5 * 40]
    # They leave in memory of their own, beside the buffers of those that do not.
    assert [held.grouped for held in found] == [2 * 40, 0]


def test_results_share_buffers_where_their_lives_do_not_meet() -> None:
    def chain(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("rows", 8))
        for name in "abc":
            x = g.linear(x, name, (8, 8), bias=False)
        g.output(x, "y", DType.F32, ("rows", 8))

    g = GraphBuilder("chain", wanted(chain), _CPU, DType.F32, Precision.F32)
    chain(g)
    held = held_results(g.build({}), {"rows": 5})
    # Three products, each held while the next is made: two buffers, by turns.
    assert (held.at_once, held.by_heads, held.grouped) == (2 * 40, 0, 2 * 40)
