"""T5's encoder beside transformers' `T5EncoderModel`, tiny and with blocks of full size."""
# pyright: basic
# torch and transformers are absent from the environment that is type-checked.

import numpy as np
import pytest

from backends.base import DType
from engine.graphs.t5 import T5Config, position_buckets, t5_encoder
from tests.graphs.test_networks import load

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SMALL = T5Config(vocabulary=300, width=48, heads=4, head_width=8, mlp_width=80, layers=3)
# Two layers of T5-XXL.
XXL = T5Config(vocabulary=200, width=4096, heads=64, head_width=64, mlp_width=10240, layers=2)


def reference(config: T5Config):
    """Return a T5EncoderModel with random weights of a size as trained ones have."""
    stated = transformers.T5Config(
        vocab_size=config.vocabulary,
        d_model=config.width,
        d_kv=config.head_width,
        d_ff=config.mlp_width,
        num_layers=config.layers,
        num_heads=config.heads,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    module = transformers.T5EncoderModel(stated).eval()
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "relative_attention_bias" in name:
                weight.normal_(0, 2)
            elif "layer_norm" in name:
                weight.normal_(1, 0.2)
    return module


def weights_of(module) -> dict[str, np.ndarray]:
    stored = module.state_dict()
    # A second name of the shared table.
    del stored["encoder.embed_tokens.weight"]
    return {name: tensor.detach().numpy() for name, tensor in stored.items()}


def feeds(config: T5Config, *shape: int):
    tokens = np.random.default_rng(1).integers(0, config.vocabulary, shape)
    return {"tokens": tokens, "buckets": position_buckets(shape[1], config.buckets)}


def states(module, tokens: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(tokens)).last_hidden_state.numpy()


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (1, 300)])
def test_the_states_are_those_of_transformers(shape: tuple[int, int]) -> None:
    module = reference(SMALL)
    given = feeds(SMALL, *shape)
    session = load(lambda g: t5_encoder(g, SMALL), weights_of(module))
    found = session.run(given)["last_hidden_state"]
    np.testing.assert_allclose(found, states(module, given["tokens"]), rtol=0, atol=1e-5)


@pytest.mark.parametrize("tokens", [1, 2, 77, 256, 513, 2048])
def test_buckets_are_those_of_transformers(tokens: int) -> None:
    places = torch.arange(tokens)
    attention = transformers.models.t5.modeling_t5.T5Attention
    expected = attention._relative_position_bucket(places[None, :] - places[:, None])
    np.testing.assert_array_equal(position_buckets(tokens), expected.numpy())


@pytest.mark.slow
def test_layers_of_full_size_are_those_of_transformers() -> None:
    module = reference(XXL)
    given = feeds(XXL, 1, 256)
    session = load(lambda g: t5_encoder(g, XXL), weights_of(module))
    found, expected = session.run(given)["last_hidden_state"], states(module, given["tokens"])
    assert np.abs(found - expected).max() / np.abs(expected).max() < 1e-5


def test_in_float16_large_sums_stay_finite() -> None:
    module = reference(SMALL)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.endswith(("wo.weight", "wi_1.weight")):
                weight.mul_(40)
    given = feeds(SMALL, 1, 20)
    expected = states(module, given["tokens"])
    half = {name: array.astype(np.float16) for name, array in weights_of(module).items()}
    session = load(lambda g: t5_encoder(g, SMALL), half, element=DType.F16)
    found = session.run(given)["last_hidden_state"]
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max() / np.abs(expected).max() < 0.01
