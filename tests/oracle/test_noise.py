"""Our generator beside torch's."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import numpy as np
import pytest

from engine.sampling.noise import SeededNoise, TorchCpuGenerator

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")

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
def test_randn_follows_torch_over_consecutive_draws(seed: int):
    theirs = torch.Generator().manual_seed(seed)
    ours = TorchCpuGenerator(seed)
    for shape in SHAPES * 2:
        np.testing.assert_allclose(
            ours.randn(shape), torch.randn(shape, generator=theirs).numpy(), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_integers_are_torchs(seed: int):
    """A float32 uniform is the low 24 bits of one output of mt19937."""
    uniform = torch.rand(2000, generator=torch.Generator().manual_seed(seed))
    ours = TorchCpuGenerator(seed).random_uint32(2000) & np.uint32(0xFFFFFF)
    np.testing.assert_array_equal(ours, (uniform.double() * 2**24).numpy())


def test_every_length_around_the_block_size():
    for count in range(70):
        theirs = torch.randn(count, generator=torch.Generator().manual_seed(count)).numpy()
        np.testing.assert_allclose(TorchCpuGenerator(count).randn((count,)), theirs, atol=1e-6)


def test_a_million_normals_stay_within_the_bound():
    theirs = torch.randn(1_000_000, generator=torch.Generator().manual_seed(3)).numpy()
    assert np.abs(TorchCpuGenerator(3).randn((1_000_000,)) - theirs).max() <= 1e-6


def test_a_batch_is_one_generator_per_image():
    noise = SeededNoise([5, 6], (4, 8, 8))
    generators = [torch.Generator().manual_seed(seed) for seed in (5, 6)]
    for _ in range(3):
        theirs = torch.stack([torch.randn((4, 8, 8), generator=g) for g in generators]).numpy()
        np.testing.assert_allclose(noise.draw(), theirs, rtol=0, atol=1e-6)
