"""Diffusion problems small enough to be solved by hand."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.sampling.noise import TorchCpuGenerator
from engine.sampling.types import Denoise, Latent

SHAPE = (2, 4, 3, 5)
# The part of each latent that is frozen, and how often noise may be drawn in such a run.
KEPT = np.s_[..., 1]
DRAWS = 64


def normals(seeds: Iterable[int], shape: tuple[int, ...]) -> Latent:
    """Standard normal values [len(seeds), *shape], each picture's from a seed of its own."""
    return np.stack([TorchCpuGenerator(seed).randn(shape) for seed in seeds])


def mixture_denoise(x: Any, sigma: Any, tanh: Any = np.tanh) -> Any:
    """The posterior mean where each value is +1 or -1, blurred by a normal of deviation 1/2.

    Nonlinear, smooth, and bounded like a picture. Takes NumPy arrays, or tensors with torch.tanh.
    """
    variance = sigma * sigma + 0.25
    return (0.25 * x + sigma * sigma * tanh(x / variance)) / variance


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Data from a normal distribution: denoiser, solution and variances are known exactly."""

    mean: float
    deviation: float

    def denoise(self, x: Latent, sigma: np.float32) -> Latent:
        """The posterior mean."""
        return (self.deviation**2 * x + sigma**2 * self.mean) / self.variance(sigma)

    def variance(self, sigma: np.floating[Any]) -> np.floating[Any]:
        """The variance of the data under noise of level sigma."""
        return self.deviation**2 + sigma**2

    def solution(
        self, x: Latent, sigma: np.floating[Any], sigma_end: np.floating[Any]
    ) -> NDArray[np.floating[Any]]:
        """The solution of the probability-flow equation from one level to another."""
        shrink = np.sqrt(self.variance(sigma_end) / self.variance(sigma))
        return self.mean + (x - self.mean) * shrink


@dataclass(frozen=True, slots=True)
class Unguided:
    """A `GuidedDenoise` without guidance, for samplers of either kind."""

    denoise: Denoise

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        """The picture."""
        return self.denoise(x, sigma)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """The picture twice."""
        denoised = self.denoise(x, sigma)
        return denoised, denoised


class BasisNoise:
    """Draws the unit vectors in turn, so that a linear sampler shows the weight of each draw.

    With data of mean 0 everything is linear in the initial noise (vector 0) and the draws after it,
    and the sum of squares of the result is its variance, without any sampling error.
    """

    def __init__(self, size: int) -> None:
        self._identity = np.eye(size)
        self._index = count(1)

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """The next unit vector."""
        return self._identity[next(self._index)]


class RecordedNoise:
    """Plays back noise that was drawn before: [draws, *SHAPE]."""

    def __init__(self, noise: NDArray[np.float32]) -> None:
        self._draws = iter(noise)

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """The next recorded draw."""
        return next(self._draws)


def draws(count: int) -> NDArray[np.float32]:
    """Noise to play back: [count, *SHAPE], the same each time."""
    return np.random.RandomState(7).standard_normal((count, *SHAPE)).astype(np.float32)


def no_noise(sigma: np.float32, sigma_next: np.float32) -> Latent:
    """For samplers that must not draw."""
    raise AssertionError("a deterministic sampler drew noise")
