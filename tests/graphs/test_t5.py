"""The encoder of T5: the buckets of distances, and what a token's place does."""

import numpy as np

from backends.base import DType
from engine.graphs.t5 import T5Config, position_buckets, t5_encoder
from tests.graphs.networks import random_weights
from tests.graphs.test_networks import load

SMALL = T5Config(vocabulary=60, width=24, heads=3, head_width=8, mlp_width=40, layers=2)


def emit(g: object) -> None:
    t5_encoder(g, SMALL)  # pyright: ignore[reportArgumentType]


def test_near_distances_have_buckets_of_their_own_and_far_ones_share() -> None:
    row = position_buckets(200)[100]
    assert row[100 - 3 : 100 + 4].tolist() == [3, 2, 1, 0, 17, 18, 19]
    # transformers' numbers for distances of 8, 12, 16, 23, 32, 46, 64, 91 and 99 tokens.
    ahead = [row[100 + away] - 16 for away in (8, 12, 16, 23, 32, 46, 64, 91, 99)]
    assert ahead == [8, 9, 10, 11, 12, 13, 14, 15, 15]


def test_states_depend_on_the_order_of_tokens_and_on_those_that_follow() -> None:
    session = load(emit, random_weights(emit))
    tokens = np.array([[5, 6, 7, 8, 9]])
    feeds = {"buckets": position_buckets(5)}
    first, turned, other_end = (
        session.run({**feeds, "tokens": given})["last_hidden_state"]
        for given in (tokens, tokens[:, ::-1].copy(), np.array([[5, 6, 7, 8, 10]]))
    )
    assert np.abs(first[0, 0] - turned[0, 4]).max() > 1e-3
    assert np.abs(first[0, 0] - other_end[0, 0]).max() > 1e-3


def test_in_float16_the_last_projection_does_not_overflow() -> None:
    weights = random_weights(emit)
    large = {name: w * (60 if "wo" in name or "wi_1" in name else 1) for name, w in weights.items()}
    feeds = {"tokens": np.array([[5, 6, 7]]), "buckets": position_buckets(3)}
    expected = load(emit, large).run(feeds)["last_hidden_state"]
    found = load(emit, large, element=DType.F16).run(feeds)["last_hidden_state"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.03)
