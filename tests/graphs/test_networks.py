"""The networks' structure, on small random weights; the oracle tests see to their numbers."""

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np
import pytest

from backends.base import Array, Backend, DType, Precision, Session, size_of
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend
from engine.graphs.clip_text import Activation, Projection, clip_text
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetConfig, timestep_embedding, unet
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder
from tests.backends.samples import NeverCancelled, ignore, relative_error
from tests.graphs.networks import (
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
    wanted,
)

Network = Callable[[GraphBuilder, VaeConfig], None]
RANDOM = np.random.default_rng(5)


def load(
    emit: Emit,
    weights: dict[str, Array],
    backend: Backend | None = None,
    precision: Precision = Precision.F32,
    element: DType = DType.F32,
) -> Session:
    backend = backend or CpuBackend()
    device = backend.probe()[0]
    graph = graph_in_memory(emit, weights, backend.operators(device), element, precision)
    return backend.load(graph, None, device, ignore, NeverCancelled())


def result_of(session: Session, feeds: dict[str, Array]) -> Array:
    (result,) = session.run(feeds).values()
    assert np.isfinite(result).all()
    return result


def run(emit: Emit, weights: dict[str, Array], feeds: dict[str, Array]) -> Array:
    return result_of(load(emit, weights), feeds)


def unet_feeds(
    config: UNetConfig, height: int, width: int, batch: int = 2, timestep: float = 999.0
) -> dict[str, Array]:
    return {
        "sample": RANDOM.standard_normal((batch, config.in_channels, height, width), np.float32),
        "timestep_embedding": timestep_embedding(config, timestep),
        "context": RANDOM.standard_normal((batch, 11, config.context_width), np.float32),
    }


@pytest.mark.parametrize("size", [(16, 16), (13, 10)], ids=str)
def test_each_residual_reaches_the_prediction(size: tuple[int, int]) -> None:
    emit = partial(unet, config=small_unet())
    session = load(emit, random_weights(emit))
    feeds = unet_feeds(small_unet(), *size)
    plain = result_of(session, feeds)
    residuals = [spec for spec in session.inputs if spec.optional]
    expected = [*(f"adapter.{i}" for i in range(4)), *(f"control.{i}" for i in range(7))]
    assert sorted(spec.name for spec in residuals) == expected
    sizes = {"contexts": 2, "height": size[0], "width": size[1]}
    for spec in residuals:
        shape = tuple(size_of(side, sizes) for side in spec.shape)
        given = feeds | {spec.name: RANDOM.standard_normal(shape, np.float32)}
        assert relative_error(result_of(session, given), plain) > 1e-3
    np.testing.assert_array_equal(result_of(session, feeds), plain)


@pytest.mark.parametrize(
    "config",
    [
        small_unet(),
        small_unet(in_channels=9),
        small_unet(linear=True),
        small_unet(linear=True, depth=2),
        small_unet(depth=3, layers=2),
    ],
    ids=["sd1", "nine_channels", "linear", "linear_deep", "convolution_deep_two_layers"],
)
def test_the_unets_output_has_the_size_of_its_input(config: UNetConfig) -> None:
    def emit(g: GraphBuilder) -> None:
        unet(g, config)

    weights = random_weights(emit)
    session = load(emit, weights)
    for height, width in ((8, 8), (9, 13), (7, 4), (1, 1)):
        result = result_of(session, unet_feeds(config, height, width))
        assert result.shape == (2, 4, height, width)
        assert result.std() > 0.01


def test_pictures_of_a_batch_do_not_mix() -> None:
    def emit(g: GraphBuilder) -> None:
        unet(g, small_unet())

    weights, feeds = random_weights(emit), unet_feeds(small_unet(), 9, 6, batch=3)
    together = run(emit, weights, feeds)
    for i in range(3):
        alone = {
            key: value[i : i + 1] for key, value in feeds.items() if key != "timestep_embedding"
        }
        single = run(emit, weights, alone | {"timestep_embedding": feeds["timestep_embedding"]})
        np.testing.assert_allclose(single, together[i : i + 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("config", [small_unet(), small_unet(depth=2)], ids=["one", "two"])
def test_a_picture_under_several_contexts_equals_each_alone(config: UNetConfig) -> None:
    """Two pictures, each under three contexts: what they share is computed once."""

    def emit(g: GraphBuilder) -> None:
        unet(g, config)

    weights, feeds = random_weights(emit), unet_feeds(config, 9, 6, batch=2)
    contexts = RANDOM.standard_normal((6, 11, config.context_width), np.float32)
    together = run(emit, weights, feeds | {"context": contexts})
    repeated = np.concatenate([feeds["sample"]] * 3)
    apart = run(emit, weights, feeds | {"sample": repeated, "context": contexts})
    assert together.shape == apart.shape == (6, 4, 9, 6)
    np.testing.assert_allclose(together, apart, rtol=0, atol=1e-5)


def test_a_unet_without_cross_attention_has_a_result_per_context() -> None:
    config = small_unet(depth=0)

    def emit(g: GraphBuilder) -> None:
        unet(g, config)

    feeds = unet_feeds(config, 8, 8, batch=1)
    contexts = np.concatenate([feeds["context"]] * 2)
    result = run(emit, random_weights(emit), feeds | {"context": contexts})
    np.testing.assert_array_equal(result[0], result[1])


@pytest.mark.parametrize("backend", [CpuBackend(), OpenVinoBackend()], ids=lambda b: b.name)
def test_sizes_that_halve_evenly_give_the_same_result(backend: Backend) -> None:
    def emit(g: GraphBuilder, *, evenly: bool = False) -> None:
        unet(g, small_unet(), halves_evenly=evenly)

    weights, feeds = random_weights(emit), unet_feeds(small_unet(), 8, 12)
    expected = run(emit, weights, feeds)
    session = load(partial(emit, evenly=True), weights, backend)
    assert relative_error(result_of(session, feeds), expected) < 1e-4


def test_the_unets_result_depends_on_each_input() -> None:
    def emit(g: GraphBuilder) -> None:
        unet(g, small_unet())

    weights, feeds = random_weights(emit), unet_feeds(small_unet(), 8, 8)
    result = run(emit, weights, feeds)
    for name, array in feeds.items():
        other = run(emit, weights, feeds | {name: array * np.float32(0.5)})
        assert relative_error(other, result) > 1e-3, name


OPENVINO = OpenVinoBackend().probe()[0]


@pytest.mark.skipif(
    Precision.BF16 not in OPENVINO.precisions, reason="this processor does not compute in bfloat16"
)
@pytest.mark.parametrize("element", [DType.F32, DType.BF16])
def test_a_bfloat16_unet_distinguishes_neighbouring_timesteps(element: DType) -> None:
    """bfloat16 rounds every number from 997 to 999 to 1000."""

    def emit(g: GraphBuilder) -> None:
        unet(g, small_unet())

    weights, feeds = random_weights(emit), unet_feeds(small_unet(), 8, 8)
    feeds["sample"] *= 0  # only the time is heard: else rounding elsewhere drowns it
    low = load(emit, weights, OpenVinoBackend(), Precision.BF16, element)
    exact = load(emit, weights)

    def change(session: Session, earlier: float) -> Array:
        """The difference of the results at two moments."""
        first, second = (
            result_of(
                session, feeds | {"timestep_embedding": timestep_embedding(small_unet(), timestep)}
            )
            for timestep in (999.0, earlier)
        )
        return first - second

    assert np.abs(change(low, 998.5)).max() > 0
    assert relative_error(change(low, 990.0), change(exact, 990.0)) < 0.5


def test_the_vae_scales_any_size() -> None:
    def decode(g: GraphBuilder) -> None:
        vae_decoder(g, SMALL_VAE)

    def encode(g: GraphBuilder) -> None:
        vae_encoder(g, SMALL_VAE)

    decoder = load(decode, random_weights(decode))
    encoder = load(encode, random_weights(encode))
    for height, width in ((8, 8), (5, 9), (1, 1)):
        latent = RANDOM.standard_normal((2, 4, height, width), np.float32)
        image = result_of(decoder, {"latent": latent})
        assert image.shape == (2, 3, 4 * height, 4 * width)
        moments = result_of(encoder, {"image": image})
        assert moments.shape == (2, 8, height, width)


@pytest.mark.parametrize("part", ["quant_convolutions", "mid_attention"])
def test_a_vae_without_a_part_uses_no_weights_of_it(part: str) -> None:
    config = msgspec.structs.replace(SMALL_VAE, **{part: False})
    names = {"quant_convolutions": "quant_conv", "mid_attention": "attentions"}
    for network in (vae_decoder, vae_encoder):

        def whole(g: GraphBuilder, network: Network = network) -> None:
            network(g, SMALL_VAE)

        def emit(g: GraphBuilder, network: Network = network) -> None:
            network(g, config)

        gone = wanted(whole).keys() - wanted(emit).keys()
        assert gone
        assert all(names[part] in name for name in gone)
        assert not any(names[part] in name for name in wanted(emit))


def test_a_token_depends_on_earlier_tokens_only() -> None:
    def emit(g: GraphBuilder) -> None:
        clip_text(g, SMALL_CLIP)

    weights = random_weights(emit)
    tokens = RANDOM.integers(0, SMALL_CLIP.vocabulary, (2, 77))
    result = run(emit, weights, {"tokens": tokens})
    assert result.shape == (2, 77, SMALL_CLIP.width)
    changed = tokens.copy()
    changed[:, 40] = (tokens[:, 40] + 1) % SMALL_CLIP.vocabulary
    other = run(emit, weights, {"tokens": changed})
    np.testing.assert_array_equal(other[:, :40], result[:, :40])
    assert np.abs(other[:, 40:] - result[:, 40:]).max(-1).min() > 1e-6


def test_clip_skip_and_the_activation_change_the_embedding() -> None:
    tokens = RANDOM.integers(0, SMALL_CLIP.vocabulary, (1, 77))
    weights = random_weights(lambda g: clip_text(g, SMALL_CLIP))
    used = {name: ref for name, ref in weights.items() if ".layers.2." not in name}
    base = run(lambda g: clip_text(g, SMALL_CLIP), weights, {"tokens": tokens})
    skipped = run(lambda g: clip_text(g, SMALL_CLIP, 2), used, {"tokens": tokens})
    exact = msgspec.structs.replace(SMALL_CLIP, activation=Activation.GELU)
    other = run(lambda g: clip_text(g, exact), weights, {"tokens": tokens})
    assert relative_error(skipped, base) > 0.05
    assert 1e-4 < relative_error(other, base) < 0.1
    shallow = msgspec.structs.replace(
        SMALL_CLIP, layers=2
    )  # the final norm is applied all the same
    np.testing.assert_array_equal(
        run(lambda g: clip_text(g, shallow), used, {"tokens": tokens}), skipped
    )


POOLED = msgspec.structs.replace(SMALL_CLIP, projection=Projection.LINEAR, projected_width=20)


def pooled_feeds(*ends: int) -> dict[str, Array]:
    tokens = np.random.default_rng(1).integers(0, SMALL_CLIP.vocabulary, (len(ends), 77))
    return {"tokens": tokens, "end": np.eye(77, dtype=np.float32)[list(ends)]}


def test_the_pooled_text_is_the_last_state_of_the_end_token() -> None:
    emit = partial(clip_text, config=POOLED)
    weights = random_weights(emit)
    outputs = load(emit, weights).run(pooled_feeds(5, 76))
    states = outputs["last_hidden_state"][[0, 1], [5, 76]]
    expected = states @ weights["text_projection.weight"].T
    np.testing.assert_allclose(outputs["pooled"], expected, rtol=0, atol=1e-5)


def test_without_a_projection_the_pooled_text_is_the_state_of_the_end_token() -> None:
    emit = partial(
        clip_text, config=msgspec.structs.replace(SMALL_CLIP, projection=Projection.NONE)
    )
    outputs = load(emit, random_weights(emit)).run(pooled_feeds(5, 76))
    expected = outputs["last_hidden_state"][[0, 1], [5, 76]]
    np.testing.assert_allclose(outputs["pooled"], expected, rtol=0, atol=1e-6)


def inserting(g: GraphBuilder) -> None:
    clip_text(g, SMALL_CLIP, inserted=True)


@pytest.mark.parametrize("backend", [CpuBackend(), OpenVinoBackend()], ids=["cpu", "openvino"])
def test_inserted_vectors_replace_those_of_tokens(backend: Backend) -> None:
    weights = random_weights(inserting)
    tokens = RANDOM.integers(0, SMALL_CLIP.vocabulary, (2, SMALL_CLIP.positions))
    words = weights["text_model.embeddings.token_embedding.weight"]
    # The vectors of other words in place of some tokens: as if those were the words.
    others = tokens.copy()
    others[0, 3:6], others[1, 76] = (4, 5, 6), 7
    marks = (others != tokens).astype(np.float32)
    feeds = {"tokens": tokens, "inserted": words[others] * marks[..., None], "is_inserted": marks}
    session = load(inserting, weights, backend)
    plain = load(lambda g: clip_text(g, SMALL_CLIP), weights, backend)
    np.testing.assert_array_equal(result_of(session, feeds), result_of(plain, {"tokens": others}))
    nothing = {name: np.zeros_like(feeds[name]) for name in ("inserted", "is_inserted")}
    np.testing.assert_array_equal(
        result_of(session, {"tokens": tokens, **nothing}), result_of(plain, {"tokens": tokens})
    )


def test_the_pooled_text_is_of_the_last_layer_whatever_the_clip_skip() -> None:
    whole, skipping = (partial(clip_text, config=POOLED, clip_skip=skip) for skip in (1, 3))
    weights = random_weights(whole)
    assert wanted(skipping).keys() == weights.keys()
    first, second = (load(emit, weights).run(pooled_feeds(9)) for emit in (whole, skipping))
    np.testing.assert_allclose(first["pooled"], second["pooled"], rtol=0, atol=1e-6)
    assert relative_error(first["last_hidden_state"], second["last_hidden_state"]) > 0.1


def test_a_projection_is_read_in_either_layout() -> None:
    linear = partial(clip_text, config=POOLED)
    matrix = partial(
        clip_text, config=msgspec.structs.replace(POOLED, projection=Projection.MATRIX)
    )
    weights = random_weights(linear)
    other = dict(weights)
    other["text_projection"] = np.ascontiguousarray(other.pop("text_projection.weight").T)
    first, second = (
        load(emit, given).run(pooled_feeds(9))["pooled"]
        for emit, given in ((linear, weights), (matrix, other))
    )
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-6)
