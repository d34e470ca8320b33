"""The noise of a picture against what A1111 and ComfyUI drew, frozen, and by its rules.

| noise                                           | reference                          | within |
| -------------------------------------------- | ---------------------------------- | ------ |
| first and next; variation, resize, ENSD         | A1111 `ImageRNG`, CPU and NV       | 2e-6   |
| first of a batch, and of places of one          | ComfyUI `prepare_noise`            | 1e-6   |
| steps of a batch                                | ComfyUI `default_noise_sampler`    | 1e-6   |
"""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import RandomSource, StepSeed
from engine.api.request import SeedOptions
from engine.api.values import ConventionName
from engine.sampling.noise import TorchCpuGenerator, TorchCudaGenerator, picture_noise
from engine.sampling.types import NoiseSource
from tests.sampling.cases import BATCHES, NOISES

FOLDER = Path(__file__).parent / "frozen"
A1111 = np.load(FOLDER / "a1111_noise.npz")
COMFY = np.load(FOLDER / "comfy_noise.npz")
SIGMAS = np.array([14, 1, 0], np.float32)
SHAPE = (4, 3, 5)


def draw(source: NoiseSource) -> np.ndarray:
    return source(SIGMAS[0], SIGMAS[1])


@pytest.mark.parametrize("name", NOISES)
def test_pictures_have_the_same_noise_as_in_a1111(name: str):
    case = NOISES[name]
    convention = replace(
        CONVENTIONS[ConventionName.A1111], random_source=case.source, step_source=case.source
    )
    noise = picture_noise(case.seed, case.shape, case.options, convention)
    second = draw(noise.steps(SIGMAS, SIGMAS, brownian=False))
    assert noise.first.dtype == second.dtype == np.float32
    ours = np.concatenate([noise.first, second])
    np.testing.assert_allclose(ours, A1111[name], rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_have_the_same_noise_as_in_comfyui(name: str):
    case = BATCHES[name]
    on_cpu = replace(CONVENTIONS[ConventionName.COMFY], step_source=RandomSource.CPU)
    for row, place in enumerate(case.places or range(case.size)):
        alone = case.places is not None
        options = SeedOptions(batch_index=place, batch_size=1 if alone else case.size)
        noise = picture_noise(case.seed, case.shape, options, on_cpu)
        np.testing.assert_allclose(noise.first[0], COMFY[f"first/{name}"][row], rtol=0, atol=1e-6)
        source = noise.steps(SIGMAS, SIGMAS, brownian=False)
        ours = np.concatenate([draw(source) for _ in range(2)])
        np.testing.assert_allclose(ours, COMFY[f"steps/{name}"][:, row], rtol=0, atol=1e-6)


def test_comfyuis_step_noise_is_drawn_on_the_card():
    noise = picture_noise(7, SHAPE, SeedOptions(), CONVENTIONS[ConventionName.COMFY])
    source, card = noise.steps(SIGMAS, SIGMAS, brownian=False), TorchCudaGenerator(7)
    for _ in range(2):
        np.testing.assert_array_equal(draw(source)[0], card.randn(SHAPE))


def test_invokeais_step_noise_is_drawn_from_the_flipped_seed():
    noise = picture_noise(7, SHAPE, SeedOptions(), CONVENTIONS[ConventionName.INVOKE])
    np.testing.assert_array_equal(noise.first[0], TorchCpuGenerator(7).randn(SHAPE))
    card = TorchCudaGenerator(7 ^ 0xFFFFFFFF)
    np.testing.assert_array_equal(
        draw(noise.steps(SIGMAS, SIGMAS, brownian=False))[0], card.randn(SHAPE)
    )


def test_diffusers_draws_a_batch_from_one_stream():
    """`randn_tensor` with one generator: of the first noise, and then of each step."""
    convention = CONVENTIONS[ConventionName.DIFFUSERS]
    generator = TorchCpuGenerator(3)
    whole = [generator.randn((3, *SHAPE)) for _ in range(3)]
    for index in range(3):
        options = SeedOptions(batch_index=index, batch_size=3)
        noise = picture_noise(3, SHAPE, options, convention)
        np.testing.assert_array_equal(noise.first[0], whole[0][index])
        # It has no tree: SDE samplers go on with the stream.
        source = noise.steps(SIGMAS, SIGMAS, brownian=True)
        for drawn in whole[1:]:
            np.testing.assert_array_equal(draw(source)[0], drawn[index])


def test_a_latent_that_is_drawn_before_moves_the_stream():
    """diffusers samples the latent of a picture to be redrawn with the same generator."""
    convention = CONVENTIONS[ConventionName.DIFFUSERS]
    generator = TorchCpuGenerator(3)
    generator.randn(SHAPE)
    noise = picture_noise(3, SHAPE, SeedOptions(), convention, skipped=1)
    np.testing.assert_array_equal(noise.first[0], generator.randn(SHAPE))
    source = noise.steps(SIGMAS, SIGMAS, brownian=False)
    np.testing.assert_array_equal(draw(source)[0], generator.randn(SHAPE))


def test_a_place_in_a_batch_has_no_effect_where_pictures_have_their_own_seeds():
    convention = CONVENTIONS[ConventionName.A1111]
    alone = picture_noise(3, SHAPE, SeedOptions(), convention)
    placed = picture_noise(3, SHAPE, SeedOptions(batch_index=2, batch_size=4), convention)
    np.testing.assert_array_equal(alone.first, placed.first)


@pytest.mark.parametrize(
    ("step_seed", "expected"), [(StepSeed.SAME, 12), (StepSeed.FLIPPED, 12 ^ 0xFFFFFFFF)]
)
def test_the_eta_seed_delta_is_added_before_a_seed_is_flipped(step_seed: StepSeed, expected: int):
    convention = replace(CONVENTIONS[ConventionName.COMFY], step_seed=step_seed)
    noise = picture_noise(10, SHAPE, SeedOptions(eta_seed_delta=2), convention)
    drawn = draw(noise.steps(SIGMAS, SIGMAS, brownian=False))
    np.testing.assert_array_equal(drawn[0], TorchCudaGenerator(expected).randn(SHAPE))
    np.testing.assert_array_equal(noise.first[0], TorchCpuGenerator(10).randn(SHAPE))


def test_variation_strength_0_gives_the_seeds_noise_and_1_the_variations():
    shape, convention = (4, 16, 16), CONVENTIONS[ConventionName.A1111]

    def first(strength: float) -> np.ndarray:
        options = SeedOptions(variation_seed=9, variation_strength=strength)
        return picture_noise(3, shape, options, convention).first[0]

    np.testing.assert_array_equal(first(0), TorchCpuGenerator(3).randn(shape))
    np.testing.assert_allclose(first(1), TorchCpuGenerator(9).randn(shape), rtol=0, atol=3e-6)
    assert first(0.5).std() == pytest.approx(1, abs=0.05)


def test_a_picture_that_is_not_redrawn_needs_no_brownian_path():
    """ComfyUI's strength of 0 leaves the level 0 alone, which is no interval."""
    noise = picture_noise(3, SHAPE, SeedOptions(), CONVENTIONS[ConventionName.COMFY])
    noise.steps(SIGMAS[-1:], SIGMAS, brownian=True)
