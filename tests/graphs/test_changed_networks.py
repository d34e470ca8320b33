"""Wrapping edges, FreeU and guided attention: their marks in the numbers, without torch."""

from functools import partial

import numpy as np
import pytest

from backends.base import Array
from engine.graphs.free_u import SCALES, FreeU, waves
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetConfig, free_u_inputs, self_attention_layers, unet
from engine.graphs.unet_changes import ATTENTION, PERTURBED, NetworkChanges
from engine.graphs.vae import vae_decoder
from tests.backends.samples import relative_error
from tests.graphs.networks import SMALL_VAE, Emit, random_weights, small_unet
from tests.graphs.test_networks import load, run, unet_feeds

CONFIG = small_unet()
WEIGHTS = random_weights(partial(unet, config=CONFIG))


def wrapping(emit: Emit, wraps: tuple[bool, bool]) -> Emit:
    def emit_wrapping(g: GraphBuilder) -> None:
        g.wraps = wraps
        emit(g)

    return emit_wrapping


@pytest.mark.parametrize("axis", [2, 3], ids=["y", "x"])
def test_a_latent_shifted_around_its_edge_gives_the_shifted_picture(axis: int) -> None:
    emit = partial(vae_decoder, config=SMALL_VAE)
    latent = np.random.default_rng(1).standard_normal((1, 4, 6, 8), np.float32)
    weights = random_weights(emit)

    def difference(wraps: tuple[bool, bool]) -> float:
        decode = wrapping(emit, wraps)
        shifted = run(decode, weights, {"latent": np.roll(latent, 2, axis)})
        expected = np.roll(run(decode, weights, {"latent": latent}), 2 * SMALL_VAE.downscale, axis)
        return relative_error(shifted, expected)

    along = (axis == 2, axis == 3)
    assert difference(along) < 1e-5
    assert difference((along[1], along[0])) > 1e-3


def test_noise_shifted_around_its_edge_gives_the_shifted_prediction() -> None:
    emit = wrapping(partial(unet, config=CONFIG), (True, True))
    feeds = unet_feeds(CONFIG, 8, 16)
    shifted = {**feeds, "sample": np.roll(feeds["sample"], (4, 8), (2, 3))}
    expected = np.roll(run(emit, WEIGHTS, feeds), (4, 8), (2, 3))
    assert relative_error(run(emit, WEIGHTS, shifted), expected) < 1e-5


@pytest.mark.parametrize("size", [(8, 8), (5, 12), (2, 2), (1, 3)], ids=str)
def test_the_waves_of_freeu_hold_the_frequencies_0_and_minus_1(size: tuple[int, int]) -> None:
    x = np.random.default_rng(2).standard_normal(size)
    rows, columns = (waves(side).astype(np.float64) for side in size)
    quarter = np.array([[0, 0, 0], [0, 0, 1], [0, -1, 0]])
    found = rows[:3] @ x @ columns[:3].T
    ours = rows[3:].T @ (found - quarter @ found @ quarter.T) @ columns[3:]
    spectrum = np.fft.fft2(x)
    kept = np.zeros_like(spectrum)
    box = np.ix_(*([0] if side == 1 else [0, -1] for side in size))
    kept[box] = spectrum[box]
    assert np.allclose(ours, np.fft.ifft2(kept).real, atol=1e-6)


def free_u(config: UNetConfig, form: FreeU, scales: tuple[float, ...]) -> Array:
    feeds = unet_feeds(config, 9, 16, batch=1) | {"context": CONTEXT, "sample": SAMPLE}
    given = {**feeds, SCALES: np.array(scales, np.float32), **free_u_inputs(config, form, (9, 16))}
    return run(partial(unet, config=config, changes=NetworkChanges(free_u=form)), WEIGHTS, given)


SAMPLE = np.random.default_rng(3).standard_normal((1, 4, 9, 16), np.float32)
CONTEXT = np.random.default_rng(4).standard_normal((1, 11, 24), np.float32)


@pytest.mark.parametrize("follows_mean", [False, True], ids=["version_1", "version_2"])
def test_factors_of_one_leave_the_prediction_as_it_is(follows_mean: bool) -> None:
    feeds = unet_feeds(CONFIG, 9, 16, batch=1) | {"context": CONTEXT, "sample": SAMPLE}
    plain = run(partial(unet, config=CONFIG), WEIGHTS, feeds)
    form = FreeU(follows_mean=follows_mean, by_width=False)
    assert relative_error(free_u(CONFIG, form, (1, 1, 1, 1)), plain) < 1e-5
    for place in range(4):
        scales = [1.0] * 4
        scales[place] = 0.5
        assert relative_error(free_u(CONFIG, form, tuple(scales)), plain) > 1e-4


def test_marked_rows_alone_are_perturbed() -> None:
    layer = "up_blocks.0"
    emit = partial(unet, config=CONFIG, changes=NetworkChanges(perturbed=(layer,)))
    feeds = unet_feeds(CONFIG, 8, 8)
    plain = run(partial(unet, config=CONFIG), WEIGHTS, feeds)
    marks = np.array([0, 1], np.float32).reshape(2, 1, 1)
    ours = run(emit, WEIGHTS, {**feeds, PERTURBED: marks})
    assert relative_error(ours[0], plain[0]) < 1e-5
    assert relative_error(ours[1], plain[1]) > 1e-3


def test_the_first_attention_can_be_perturbed_where_a_picture_has_several_contexts() -> None:
    first = next(self_attention_layers(CONFIG))
    emit = partial(unet, config=CONFIG, changes=NetworkChanges(perturbed=(first,)))
    feeds = unet_feeds(CONFIG, 8, 8, batch=1)
    twice = {**feeds, "context": np.repeat(feeds["context"], 2, 0)}
    ours = run(emit, WEIGHTS, {**twice, PERTURBED: np.array([[[0]], [[1]]], np.float32)})
    assert relative_error(ours[0], run(partial(unet, config=CONFIG), WEIGHTS, feeds)[0]) < 1e-5
    assert relative_error(ours[1], ours[0]) > 1e-3


def test_the_attention_that_cells_receive_adds_up_to_their_number() -> None:
    emit = partial(unet, config=CONFIG, changes=NetworkChanges(shows_attention=True))
    feeds = unet_feeds(CONFIG, 9, 16)
    found = load(emit, WEIGHTS).run(feeds)
    assert found[ATTENTION].shape == (2, 3 * 4)
    assert np.allclose(found[ATTENTION].sum(1), 3 * 4, rtol=1e-5)
    assert (
        relative_error(found["prediction"], run(partial(unet, config=CONFIG), WEIGHTS, feeds))
        < 1e-5
    )
