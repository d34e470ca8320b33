"""The tree of SDE noise by its properties, and against what A1111 and ComfyUI drew of theirs.

| noise                                   | reference, frozen                            | within |
| --------------------------------------- | -------------------------------------------- | ------ |
| a tree for each picture, CPU and Philox | A1111 `Sampler.create_noise_sampler`         | 4e-6   |
| one tree for a batch                    | ComfyUI `BrownianTreeNoiseSampler(cpu=True)` | 4e-6   |

In `tests/oracle/test_noise.py` it is compared with torchsde itself. The tolerance is that of the
normal values (1e-6) on each of the 24 levels of the tree, over the root of a short interval.
"""

from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import RandomSource, SdeNoise
from engine.api.request import SeedOptions
from engine.api.values import ConventionName
from engine.sampling.noise import BrownianNoise, TorchCpuGenerator, picture_noise
from engine.sampling.types import Latent
from tests.sampling.cases import BATCHES, LEVELS, TREE_SEEDS, TREE_SHAPE

FOLDER = Path(__file__).parent / "frozen"
A1111 = np.load(FOLDER / "a1111_noise.npz")
COMFY = np.load(FOLDER / "comfy_noise.npz")
SIGMAS = np.array([*LEVELS, 0], np.float32)
STEPS = list(pairwise(SIGMAS[:-1]))


class Draws:
    """Normal values of a node, counted."""

    def __init__(self, shape: tuple[int, ...] = (2, 3, 3)) -> None:
        self.shape = shape
        self.count = 0

    def __call__(self, seed: int) -> Latent:
        self.count += 1
        return TorchCpuGenerator(seed).randn(self.shape)


def tree(seed: int = 1, draws: Draws | None = None) -> BrownianNoise:
    return BrownianNoise(seed, draws or Draws(), np.float32(0.03), np.float32(14.6))


@pytest.mark.parametrize("source", RandomSource)
def test_each_picture_has_the_same_tree_as_in_a1111(source: RandomSource):
    convention = replace(CONVENTIONS[ConventionName.A1111], random_source=source)
    for index, seed in enumerate(TREE_SEEDS):
        noise = picture_noise(seed, TREE_SHAPE, SeedOptions(), convention)
        steps = noise.steps(SIGMAS[3:], SIGMAS, brownian=True)  # the end: the whole is spanned
        ours = np.concatenate([steps(*step) for step in STEPS])
        assert ours.dtype == np.float32
        expected = A1111[f"tree/{source.value}"][:, index]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=4e-6)


@pytest.mark.parametrize("name", [name for name, case in BATCHES.items() if not case.places])
def test_a_batch_has_the_same_tree_as_in_comfyui(name: str):
    case = BATCHES[name]
    for index in range(case.size):
        options = SeedOptions(batch_index=index, batch_size=case.size)
        noise = picture_noise(case.seed, case.shape, options, CONVENTIONS[ConventionName.COMFY])
        whole = np.array([100, 50, 0], np.float32)  # ComfyUI spans what is taken
        steps = noise.steps(SIGMAS, whole, brownian=True)
        ours = np.concatenate([steps(*step) for step in STEPS])
        np.testing.assert_allclose(ours, COMFY[f"tree/{name}"][:, index], rtol=0, atol=4e-6)


def test_a_tree_can_be_filled_by_cuda_alone():
    """ComfyUI's "_gpu" samplers: the first noise is still the processor's."""
    on_card = replace(CONVENTIONS[ConventionName.COMFY], sde_noise=SdeNoise.BROWNIAN_CUDA)
    noise = picture_noise(TREE_SEEDS[0], TREE_SHAPE, SeedOptions(), on_card)
    steps = noise.steps(SIGMAS, SIGMAS, brownian=True)
    expected = A1111["tree/cuda"][:, 0]
    ours = np.concatenate([steps(*step) for step in STEPS])
    np.testing.assert_allclose(ours, expected, rtol=0, atol=4e-6)
    first = TorchCpuGenerator(TREE_SEEDS[0]).randn(TREE_SHAPE)
    np.testing.assert_array_equal(noise.first[0], first)


def test_an_interval_has_its_noise_in_any_order():
    expected = [tree()(*step) for step in STEPS]
    for order in list(permutations(range(len(STEPS))))[::17]:
        noise = tree()
        for index in (*order, *order):
            np.testing.assert_array_equal(noise(*STEPS[index]), expected[index])


levels = st.floats(0.03125, 14.5, width=32)


@given(levels, levels, levels)
def test_increments_add_up(first: float, second: float, third: float):
    a, b, c = (np.float32(level) for level in sorted((first, second, third)))
    if min(b - a, c - b) < 1e-4:
        return
    noise = tree()

    def increment(low: np.float32, high: np.float32) -> Latent:
        return noise(low, high) * np.sqrt(high - low)

    whole = increment(a, c)
    np.testing.assert_allclose(increment(a, b) + increment(b, c), whole, rtol=0, atol=4e-6)


def test_an_increment_in_the_other_direction_is_negative():
    low, high = np.float32(0.5), np.float32(2)
    np.testing.assert_array_equal(tree()(low, high), -tree()(high, low))


def test_beyond_its_ends_a_path_is_flat():
    """Nothing is added there, as in torchsde, which warns: over a wider step the noise is less."""
    noise = tree()
    inside = noise(np.float32(14.6), np.float32(1)) * np.sqrt(np.float32(13.6))
    beyond = noise(np.float32(20), np.float32(1)) * np.sqrt(np.float32(19))
    np.testing.assert_allclose(beyond, inside, rtol=1e-6)
    assert not noise(np.float32(20), np.float32(15)).any()


def test_memory_and_work_are_bounded():
    """A step costs at most a halving for each digit of its ends, and what is kept does not grow."""
    draws = Draws()
    noise = tree(draws=draws)
    sigmas = np.linspace(14.6, 0.03, 120, dtype=np.float32)
    for step in pairwise(sigmas):
        before = draws.count
        noise(*step)
        assert draws.count - before <= 2 * 25
    assert draws.count < 120 * 20
    assert noise.kept_bytes <= 64 * 2 * 18 * 4
    # A large latent keeps few, whatever it costs.
    large = BrownianNoise(
        1, lambda _: np.zeros((4, 1024, 1024), np.float32), np.float32(0.03), np.float32(14.6)
    )
    large(np.float32(14), np.float32(13))
    assert large.kept_bytes <= 1 << 27


def test_noise_is_normal_and_steps_are_independent():
    noise = tree(draws=Draws((100_000,)))
    first, second = noise(*STEPS[1]), noise(*STEPS[2])
    for values in (first, second):
        # Five standard errors of the mean and the variance.
        assert abs(values.mean()) < 5 * (1 / 100_000) ** 0.5
        assert abs(values.var() - 1) < 5 * (2 / 100_000) ** 0.5
    assert abs((first * second).mean()) < 5 * (1 / 100_000) ** 0.5
