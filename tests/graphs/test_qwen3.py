"""Qwen3's decoder as an encoder: places, order, and which layers are emitted."""

import numpy as np

from engine.graphs.operators import GraphBuilder
from engine.graphs.qwen3 import Qwen3Config, place_inputs, qwen3_encoder
from tests.graphs.networks import random_weights
from tests.graphs.test_networks import load

SMALL = Qwen3Config(
    vocabulary=60, width=24, heads=4, key_heads=2, head_width=8, mlp_width=40, layers=3
)


def emit(g: GraphBuilder) -> None:
    qwen3_encoder(g, SMALL, (2,))


def test_states_follow_from_earlier_tokens_alone() -> None:
    session = load(emit, random_weights(emit))
    first, other_end, other_start = (
        session.run({**place_inputs(SMALL, 5), "tokens": np.array([given])})["states"][0]
        for given in ([5, 6, 7, 8, 9], [5, 6, 7, 8, 10], [4, 6, 7, 8, 9])
    )
    np.testing.assert_array_equal(first[:4], other_end[:4])
    assert np.abs(first[4] - other_end[4]).max() > 1e-3
    assert np.abs(first[4] - other_start[4]).max() > 1e-4


def test_later_layers_and_the_final_norm_are_not_emitted() -> None:
    names = random_weights(emit)
    assert any(name.startswith("layers.1.") for name in names)
    assert not any(name.startswith(("layers.2.", "norm.")) for name in names)
