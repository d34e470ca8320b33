"""Qwen3's decoder beside transformers' `Qwen3Model`, tiny and of full size."""
# pyright: basic
# torch and transformers are absent from the environment that is type-checked.

import msgspec
import numpy as np
import pytest

from engine.graphs.qwen3 import Qwen3Config, place_inputs, qwen3_encoder
from tests.families.test_qwen3_sizes import PUBLISHED
from tests.graphs.test_networks import load
from tests.graphs.test_qwen3 import SMALL

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

# Two layers of the 4B model, of which the first one is run, and all of 0.6B's, with few words.
FOUR_BILLION = msgspec.structs.replace(PUBLISHED["Qwen3-4B"], vocabulary=200, layers=2)
SMALLEST = msgspec.structs.replace(PUBLISHED["Qwen3-0.6B"], vocabulary=200)


def reference(config: Qwen3Config):
    """Return a Qwen3Model with random weights, its norms off their first values."""
    stated = transformers.Qwen3Config(
        vocab_size=config.vocabulary,
        hidden_size=config.width,
        intermediate_size=config.mlp_width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.key_heads,
        head_dim=config.head_width,
        rms_norm_eps=config.epsilon,
        rope_theta=config.rotation_base,
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    module = transformers.Qwen3Model(stated).eval()
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "norm" in name:
                weight.normal_(1, 0.2)
            elif weight.ndim > 1:
                weight.mul_(2)
    return module


def states(module, tokens: np.ndarray) -> tuple[np.ndarray, ...]:
    with torch.no_grad():
        found = module(torch.from_numpy(tokens), output_hidden_states=True).hidden_states
    return tuple(state.numpy() for state in found)


def ours(config: Qwen3Config, module, tokens: np.ndarray, after: tuple[int, ...]) -> np.ndarray:
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    used = f"layers.{after[-1]}."
    kept = {name: array for name, array in weights.items() if name != "norm.weight"}
    kept = {name: array for name, array in kept.items() if not name.startswith(used)}
    session = load(lambda g: qwen3_encoder(g, config, after), kept)
    return session.run({"tokens": tokens, **place_inputs(config, tokens.shape[1])})["states"]


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (1, 300)])
def test_the_states_before_the_last_layer_are_those_of_transformers(
    shape: tuple[int, int],
) -> None:
    module = reference(SMALL)
    tokens = np.random.default_rng(1).integers(0, SMALL.vocabulary, shape)
    found = ours(SMALL, module, tokens, (SMALL.layers - 1,))
    np.testing.assert_allclose(found, states(module, tokens)[-2], rtol=0, atol=1e-5)


def test_states_of_several_layers_stand_side_by_side() -> None:
    module = reference(SMALL)
    tokens = np.random.default_rng(1).integers(0, SMALL.vocabulary, (1, 7))
    found, expected = ours(SMALL, module, tokens, (1, 2)), states(module, tokens)
    whole = np.concatenate([expected[1], expected[2]], axis=2)
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("config", [SMALLEST, FOUR_BILLION], ids=["0.6B", "layer_of_4B"])
def test_full_size_is_that_of_transformers(config: Qwen3Config) -> None:
    module, last = reference(config), config.layers - 1
    tokens = np.random.default_rng(1).integers(0, 200, (1, 64))
    found, expected = ours(config, module, tokens, (last,)), states(module, tokens)[last]
    assert np.abs(found - expected).max() / np.abs(expected).max() < 1e-5
