"""Guidance by attention, without torch; the oracle compares it with ComfyUI's and diffusers'."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.sampling.attention_guidance import (
    AttentionGuidance,
    PerturbedAttention,
    SelfAttention,
)
from engine.sampling.denoiser import Denoiser
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent
from tests.sampling.toy import normals

TRAINING = NoiseSchedule.scaled_linear()
SHAPE = (1, 4, 8, 6)
SIGMA = np.float32(2.0)


@dataclass
class Network:
    """Predicts a share of its input, another one for each prompt; notes how often it is asked."""

    positives: int = 1
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        self.asked.append("guided" if guided else "plain")
        shares = [0.1 * (1 + place) for place in range(self.positives)] + [0.7] * guided
        return np.concatenate([x * np.float32(share) for share in shares])

    def perturbed(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        shares = [0.5 * (1 + place) for place in range(self.positives)]
        others = [x * np.float32(share) for share in shares]
        return np.concatenate([self(x, timestep, guided), *others])

    def attention(self) -> Latent:
        # Of the middle, half as high and wide; only the first cells get much.
        maps = np.zeros((self.positives + (self.asked[-1] == "guided"), 4 * 3), np.float32)
        maps[:, :4] = 3
        return maps

    def again(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        self.asked.append("again")
        rows = 1 if guided else self.positives
        return np.concatenate([x * np.float32(0.9)] * rows)


def denoiser(network: Network, guidance: float = 4.0, **changes: Any) -> Denoiser:
    weights = changes.pop("weights", (1.0,) * network.positives)
    rescale = changes.pop("rescale", 0.0)
    terms = AttentionGuidance(network, **changes)
    return Denoiser(
        network, TRAINING, PredictionType.EPSILON, guidance, weights, rescale, attention=terms
    )


X = normals([3], SHAPE[1:]) * SIGMA


def plain(guidance: float = 4.0, **changes: Any) -> Latent:
    return denoiser(Network(), guidance, **changes)(X, SIGMA)


@pytest.mark.parametrize("guidance", [4.0, 1.0])
@pytest.mark.parametrize("in_predictions", [True, False])
def test_pag_moves_away_from_the_perturbed_prediction(
    guidance: float, in_predictions: bool
) -> None:
    found = denoiser(
        Network(), guidance, perturbed=PerturbedAttention(3.0), in_predictions=in_predictions
    )(X, SIGMA)
    scaled = TRAINING.network_input(X, SIGMA)
    expected = plain(guidance) + 3.0 * SIGMA * (0.5 - 0.1) * scaled
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def test_pag_counts_each_prompt_with_its_weight() -> None:
    network = Network(positives=2)
    found = denoiser(network, weights=(0.75, 0.25), perturbed=PerturbedAttention(2.0))(X, SIGMA)
    without = denoiser(Network(positives=2), weights=(0.75, 0.25))(X, SIGMA)
    scaled = TRAINING.network_input(X, SIGMA)
    shares = 0.75 * (0.5 - 0.1) + 0.25 * (1.0 - 0.2)
    np.testing.assert_allclose(found, without + 2 * SIGMA * shares * scaled, rtol=2e-5, atol=1e-5)


def test_pag_acts_between_its_levels_alone() -> None:
    network = Network()
    within = denoiser(network, perturbed=PerturbedAttention(3.0, levels=(0.5, 1.0)))
    np.testing.assert_array_equal(within(X, SIGMA), plain())
    assert not np.allclose(within(X, np.float32(0.7)), denoiser(Network())(X, np.float32(0.7)))


@pytest.mark.parametrize(
    ("adaptive", "timestep", "scale"), [(0.0, 1.0, 3.0), (0.002, 500.0, 2.0), (0.01, 10.0, 0.0)]
)
def test_the_adaptive_scale_falls_with_the_timesteps(
    adaptive: float, timestep: float, scale: float
) -> None:
    pag = PerturbedAttention(3.0, adaptive)
    assert pag.scale_at(SIGMA, np.float32(timestep)) == pytest.approx(scale)


def test_rescaling_comes_before_what_is_added_to_pictures() -> None:
    pag = PerturbedAttention(3.0)
    first = plain(perturbed=pag, rescale=1.0, in_predictions=True)
    later = plain(perturbed=pag, rescale=1.0)
    scaled = TRAINING.network_input(X, SIGMA)
    expected = plain(rescale=1.0) + 3.0 * SIGMA * (0.5 - 0.1) * scaled
    np.testing.assert_allclose(later, expected, rtol=2e-5, atol=1e-5)
    assert not np.allclose(first, later)


def test_sag_looks_at_the_negative_prompt_even_without_guidance() -> None:
    network = Network()
    seen = SelfAttention(0.5, 2.0)
    found = denoiser(network, 1.0, seen=seen)(X, SIGMA)
    assert network.asked == ["guided", "again"]
    negative = X - SIGMA * 0.7 * TRAINING.network_input(X, SIGMA)
    degraded = seen.degraded(negative, network.attention())
    noised = degraded + X - negative
    again = noised - SIGMA * 0.9 * TRAINING.network_input(noised, SIGMA)
    np.testing.assert_allclose(found, plain(1.0) + 0.5 * (degraded - again), rtol=2e-5, atol=1e-5)


def test_sag_by_diffusers_looks_at_the_prompt_where_no_other_is_evaluated() -> None:
    network = Network()
    seen = SelfAttention(0.5, 1.0, by_negative=False)
    denoiser(network, 1.0, seen=seen, in_predictions=True)(X, SIGMA)
    assert network.asked == ["plain", "again"]


def test_the_pair_of_cfg_plus_plus_is_guided_and_negative() -> None:
    network = Network()
    terms: dict[str, Any] = {"perturbed": PerturbedAttention(3.0), "seen": SelfAttention(0.5, 1.0)}
    guided, negative = denoiser(network, **terms).pair(X, SIGMA)
    np.testing.assert_array_equal(guided, denoiser(Network(), **terms)(X, SIGMA))
    np.testing.assert_array_equal(negative, denoiser(Network()).pair(X, SIGMA)[1])


def test_latents_of_four_cells_are_too_small_to_blur() -> None:
    network, x = Network(), X[:, :, :4]
    np.testing.assert_array_equal(
        denoiser(network, seen=SelfAttention(0.5, 1.0))(x, SIGMA), denoiser(Network())(x, SIGMA)
    )
    assert network.asked == ["guided"]


def test_the_blur_is_a_gaussian_of_nine_cells_where_attention_is_high() -> None:
    picture = np.zeros((1, 1, 20, 24), np.float32)
    picture[0, 0, 10, 12] = 1
    seen, everywhere = SelfAttention(1.0, 1.5), np.full((1, 10 * 12), 2, np.float32)
    found = seen.degraded(picture, everywhere)[0, 0]
    weights = np.exp(-0.5 * (np.arange(-4, 5) / 1.5) ** 2)
    weights /= weights.sum()
    np.testing.assert_allclose(found[6:15, 8:17], np.outer(weights, weights), atol=1e-6)
    assert found.sum() == pytest.approx(1, abs=1e-5)
    nowhere = seen.degraded(picture, np.ones_like(everywhere))
    np.testing.assert_array_equal(nowhere, picture)
    np.testing.assert_array_equal(SelfAttention(1.0, 0.0).degraded(picture, everywhere), picture)


def test_cells_of_the_middle_cover_those_that_they_were_made_of() -> None:
    picture, attention = normals([2], (1, 10, 14)), np.zeros((1, 3 * 4), np.float32)
    attention[0, 0] = 2
    changed = SelfAttention(1.0, 1.0).degraded(picture, attention) != picture
    assert changed[0, 0, :4, :4].all()
    assert not changed[0, 0, 4:].any()
    assert not changed[0, 0, :, 4:].any()
