"""Our generators and trees beside torch's and torchsde's.

| noise                          | reference                                          | within |
| ------------------------------ | -------------------------------------------------- | ------ |
| TorchCpuGenerator              | `torch.randn`, CPU                                 | 1e-6   |
| BrownianNoise, given its draws | k-diffusion `BrownianTreeNoiseSampler` on torchsde | 0      |
| BrownianNoise                  | the same                                           | 4e-6   |

Philox is compared with published vectors: no CUDA is needed for the tests.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from itertools import pairwise

import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.request import SeedOptions
from engine.api.values import ConventionName
from engine.sampling.noise import (
    BrownianNoise,
    TorchCpuGenerator,
    picture_noise,
)

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
torchsde = pytest.importorskip("torchsde")
k_diffusion = pytest.importorskip("tests.oracle.k_diffusion").load("sampling")

SEEDS = [0, 1, 42, 1234567890, 2**32 - 1, 2**32, 2**53 + 1, 2**63 + 11, 2**64 - 1, -1, -(2**63)]
SHAPES = [
    (1,),
    (4, 64, 64),
    (3,),
    (15,),
    (16,),
    (17,),
    (31,),
    (2, 7),
    (0,),
    (9,),
    (4, 13, 11),
    (1,),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_draws_of_randn_equal_torchs(seed: int):
    theirs = torch.Generator().manual_seed(seed)
    ours = TorchCpuGenerator(seed)
    for shape in SHAPES * 2:
        np.testing.assert_allclose(
            ours.randn(shape), torch.randn(shape, generator=theirs).numpy(), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_integers_equal_torchs(seed: int):
    """A float32 uniform is the low 24 bits of one output of mt19937."""
    uniform = torch.rand(2000, generator=torch.Generator().manual_seed(seed))
    ours = TorchCpuGenerator(seed).random_uint32(2000) & np.uint32(0xFFFFFF)
    np.testing.assert_array_equal(ours, (uniform.double() * 2**24).numpy())


def test_draws_of_every_length_around_the_block_size_equal_torchs():
    for count in range(70):
        theirs = torch.randn(count, generator=torch.Generator().manual_seed(count)).numpy()
        np.testing.assert_allclose(TorchCpuGenerator(count).randn((count,)), theirs, atol=1e-6)


def test_a_million_normal_values_stay_within_the_bound():
    theirs = torch.randn(1_000_000, generator=torch.Generator().manual_seed(3)).numpy()
    assert np.abs(TorchCpuGenerator(3).randn((1_000_000,)) - theirs).max() <= 1e-6


@pytest.mark.parametrize("shape", [(3, 5), (4, 7, 9), (2, 16)])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_one_picture_of_a_batch_equals_torchs(shape: tuple[int, ...], size: int):
    theirs = torch.randn((size, *shape), generator=torch.Generator().manual_seed(8)).numpy()
    for index in range(size):
        ours = TorchCpuGenerator(8).randn_of_batch(shape, index, size)
        np.testing.assert_allclose(ours, theirs[index], rtol=0, atol=1e-6)


SHAPE = (1, 4, 6, 5)
LOW, HIGH = np.float32(0.0291675), np.float32(14.614642)


def steps_anywhere(count: int) -> list[tuple[np.float32, np.float32]]:
    """Steps of all lengths, up and down, to both ends, and of a millionth."""
    levels = np.exp(np.random.default_rng(0).uniform(np.log(LOW), np.log(HIGH), (count, 2)))
    steps = [(a, b) for a, b in levels.astype(np.float32) if round(a, 6) != round(b, 6)]
    close = [(np.float32(x), np.float32(x + 2e-6)) for x in (0.5, 0.999999, 3.0)]
    return [
        *steps,
        *close,
        (HIGH, LOW),
        (LOW, HIGH),
        (HIGH, np.float32(7)),
        (np.float32(0.25), LOW),
    ]


@pytest.mark.filterwarnings("ignore:Should have t:UserWarning")
@pytest.mark.parametrize("seed", [0, 7, 2**32 + 1, 2**63 + 5])
@pytest.mark.parametrize(("same_draws", "within"), [(True, 0), (False, 4e-6)])
def test_a_tree_equals_torchsdes_in_any_order(seed: int, same_draws: bool, within: float):
    def torch_draw(node_seed: int) -> np.ndarray:
        generator = torch.Generator().manual_seed(node_seed)
        return torch.randn(SHAPE, generator=generator).numpy()

    def our_draw(node_seed: int) -> np.ndarray:
        return TorchCpuGenerator(node_seed).randn(SHAPE)

    ours = BrownianNoise(seed, torch_draw if same_draws else our_draw, LOW, HIGH)
    theirs = k_diffusion.BrownianTreeNoiseSampler(
        torch.zeros(SHAPE), torch.tensor(LOW), torch.tensor(HIGH), seed=seed
    )
    steps = steps_anywhere(60)
    for low, high in [*steps, *steps[::-3]]:
        times = torch.tensor(low), torch.tensor(high)
        # torch's root may be off by its last bit, NumPy's is not.
        root = np.sqrt(np.abs(high - low))
        expected = theirs.tree(*times).numpy() / root
        np.testing.assert_allclose(theirs(*times).numpy(), expected, rtol=2.4e-7)
        # Over a short step the error of the draws, of 1e-6, is divided by the step's root.
        atol = within / min(float(root), 1)
        np.testing.assert_allclose(ours(low, high), expected, rtol=0, atol=atol)


@pytest.mark.filterwarnings("ignore:Should have t:UserWarning")
def test_a_batch_of_trees_equals_one_tree_per_picture():
    seeds = [3, 4]
    theirs = k_diffusion.BrownianTreeNoiseSampler(
        torch.zeros(2, *SHAPE[1:]), torch.tensor(LOW), torch.tensor(HIGH), seed=seeds
    )
    sigmas = np.array([14.6, 4, 0.7, 0.1, 0], np.float32)
    expected = [theirs(torch.tensor(a), torch.tensor(b)).numpy() for a, b in pairwise(sigmas[:-1])]
    whole = np.array([HIGH, LOW, 0], np.float32)
    for index, seed in enumerate(seeds):
        convention = CONVENTIONS[ConventionName.A1111]
        noise = picture_noise(seed, SHAPE[1:], SeedOptions(), convention)
        steps = noise.steps(sigmas, whole, brownian=True)
        for step, (a, b) in enumerate(pairwise(sigmas[:-1])):
            np.testing.assert_allclose(steps(a, b)[0], expected[step][index], rtol=0, atol=8e-6)
