"""Noise as the popular tools draw it, without torch: the same seed, the same picture.

noise = picture_noise(seed, (4, 64, 64), SeedOptions(), CONVENTIONS[ConventionName.A1111])
x = noise.first * sigmas[0]
source = noise.steps(sigmas, sigmas, brownian=SAMPLERS[sampler].brownian)
"""

from collections.abc import Sequence

import numpy as np

from engine.sampling.noise.brownian import BrownianNoise
from engine.sampling.noise.picture import PictureNoise, picture_noise, torch_generator
from engine.sampling.noise.torch_cpu import TorchCpuGenerator
from engine.sampling.noise.torch_cuda import TorchCudaGenerator, philox4x32
from engine.sampling.types import Latent

__all__ = [
    "BrownianNoise",
    "PictureNoise",
    "SeededNoise",
    "TorchCpuGenerator",
    "TorchCudaGenerator",
    "philox4x32",
    "picture_noise",
    "torch_generator",
]


class SeededNoise:
    """The noise of a batch: one generator per image, so that a picture is the same in any batch."""

    def __init__(self, seeds: Sequence[int], shape: tuple[int, int, int]) -> None:
        """Seed one generator per image; `shape` is (channels, height / 8, width / 8)."""
        self._generators = [TorchCpuGenerator(seed) for seed in seeds]
        self._shape = shape

    def draw(self) -> Latent:
        """The next standard normal values: float32 [len(seeds), *shape]."""
        return np.stack([generator.randn(self._shape) for generator in self._generators])

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """The next draw, whatever the interval."""
        return self.draw()
