"""An autoencoder in tiles beside the same one whole."""

from functools import partial

import numpy as np
import pytest

from backends.base import Array, Session
from engine.families.shared.kl_vae.tiles import shared_norms, tiling
from engine.graphs.vae import vae_decoder, vae_encoder
from engine.graphs.vae_tiles import (
    decoder_core,
    decoder_halo,
    decoder_shell,
    encoder_core,
    encoder_halo,
    encoder_shell,
    shell_norms,
)
from tests.graphs.networks import SMALL_VAE, Emit, random_weights, wanted
from tests.graphs.test_networks import load, run

CELLS = (40, 33)
SCALE = SMALL_VAE.downscale
DECODER = random_weights(partial(vae_decoder, config=SMALL_VAE))
ENCODER = random_weights(partial(vae_encoder, config=SMALL_VAE))


def part(emit: Emit, weights: dict[str, Array], feeds: dict[str, Array]) -> Array:
    return run(emit, used(emit, weights), feeds)


def used(emit: Emit, weights: dict[str, Array]) -> dict[str, Array]:
    return {name: weights[name] for name in wanted(emit)}


def statistics(measuring: Emit, weights: dict[str, Array], whole: Array, scale: int) -> Array:
    tiles = tiling(CELLS, 20, 0).tiles
    (name,) = (spec.name for spec in load(measuring, used(measuring, weights)).inputs)
    return np.concatenate(
        [part(measuring, weights, {name: tile.crop(whole, scale)}) for tile in tiles]
    )


def told(session: Session, norms: dict[str, Array]) -> Session:
    for spec in session.inputs[1:]:
        session.pin(spec.name, norms[spec.name].reshape([int(n) for n in spec.shape]))
    return session


@pytest.mark.parametrize("side", ["decoder", "encoder"])
def test_tiles_with_the_wholes_statistics_equal_the_whole(side: str) -> None:
    """Whatever the statistics: no seam is left, because a tile sees far enough around it."""
    decodes = side == "decoder"
    emit = partial(decoder_shell if decodes else encoder_shell, config=SMALL_VAE)
    weights = DECODER if decodes else ENCODER
    before, after = (1, SCALE) if decodes else (SCALE, 1)
    halo = (decoder_halo if decodes else encoder_halo)(SMALL_VAE)
    channels = SMALL_VAE.widths[-1] if decodes else 3
    size = [length * before for length in CELLS]
    whole = np.random.default_rng(0).standard_normal((1, channels, *size), np.float32)
    measured = statistics(partial(emit, measures=True), weights, whole, before)
    norms = dict(shared_norms(shell_norms(SMALL_VAE, side), SMALL_VAE.norm_groups, measured))
    session = told(load(emit, used(emit, weights)), norms)
    name = session.inputs[0].name
    (expected,) = session.run({name: whole}).values()
    found = np.full_like(expected, np.nan)
    for tile in tiling(CELLS, 20, halo).tiles:
        (result,) = session.run({name: tile.crop(whole, before)}).values()
        tile.keep(result, found, after)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    # One cell less around them is too little.
    worse = expected.copy()
    for tile in tiling(CELLS, 20 - 2, halo - 1).tiles:
        (result,) = session.run({name: tile.crop(whole, before)}).values()
        tile.keep(result, worse, after)
    assert np.abs(worse - expected).max() > 1e-4 * np.abs(expected).max()


def test_core_and_shell_equal_the_whole_decoder() -> None:
    latent = np.random.default_rng(1).standard_normal((1, 4, *CELLS), np.float32)
    expected = part(partial(vae_decoder, config=SMALL_VAE), DECODER, {"latent": latent})
    core = part(partial(decoder_core, config=SMALL_VAE), DECODER, {"latent": latent})
    emit = partial(decoder_shell, config=SMALL_VAE)
    measured = part(partial(emit, measures=True), DECODER, {"features": core})
    norms = dict(shared_norms(shell_norms(SMALL_VAE, "decoder"), SMALL_VAE.norm_groups, measured))
    session = told(load(emit, used(emit, DECODER)), norms)
    (found,) = session.run({"features": core}).values()
    # Measured and told layer by layer, statistics are exact in a single tile.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_core_and_shell_equal_the_whole_encoder() -> None:
    size = [length * SCALE for length in CELLS]
    image = np.random.default_rng(1).standard_normal((1, 3, *size), np.float32)
    expected = part(partial(vae_encoder, config=SMALL_VAE), ENCODER, {"image": image})
    emit = partial(encoder_shell, config=SMALL_VAE)
    measured = part(partial(emit, measures=True), ENCODER, {"image": image})
    norms = dict(shared_norms(shell_norms(SMALL_VAE, "encoder"), SMALL_VAE.norm_groups, measured))
    session = told(load(emit, used(emit, ENCODER)), norms)
    (features,) = session.run({"image": image}).values()
    found = part(partial(encoder_core, config=SMALL_VAE), ENCODER, {"features": features})
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
