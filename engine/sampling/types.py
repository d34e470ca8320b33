"""The vocabulary of samplers: latents, noise levels, what they call and the steps they yield.

Latents are kept in k-diffusion's variance-exploding form, x = picture + sigma * noise, whatever
the network was trained on: `engine.sampling.denoiser` converts. All arithmetic is float32, like
that of the tools whose pictures we reproduce.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# float32 [batch, channels, height / 8, width / 8]. The type does not say 32 because NumPy's own
# annotations widen products of arrays and scalars that stay float32 when run; the tests do.
Latent = NDArray[np.floating[Any]]
# float32 [steps + 1]: falling noise levels, the last usually 0. A sampler takes one step per pair.
Sigmas = NDArray[np.float32]
# The picture that is most likely under x at noise level sigma; the same shape as x.
Denoise = Callable[[Latent, np.float32], Latent]


class GuidedDenoise(Protocol):
    """A `Denoise` that also tells what guidance moved away from."""

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        """The picture that is most likely under x, guided by the prompts."""
        ...

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """That picture, and the one under the negative prompt alone; both in the shape of x."""
        ...


class NoiseSource(Protocol):
    """Fresh noise for samplers that add some at each step.

    The interval is part of the call because Brownian sources (torchsde's tree) answer by it.
    """

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """Standard normal values in the shape of the latents, for the step sigma -> sigma_next."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """The state after one step of a sampler.

    `sigma` is the noise level the step began at, `x` the latents it arrived at, and `denoised` the
    network's picture at its beginning, which is what a preview shows. `done` is the share of the
    run that lies behind, from 0 to 1, where a sampler takes other steps than one per pair of
    levels; None where it is (index + 1) / (len(sigmas) - 1).
    """

    index: int
    sigma: np.float32
    x: Latent
    denoised: Latent
    done: float | None = None

    def progress(self, total: int) -> int:
        """How many of `total` steps lie behind, for whoever waits."""
        return self.index + 1 if self.done is None else round(self.done * total)


class Sampler(Protocol):
    """Integrates from x at sigmas[0] down to sigmas[-1], yielding after each step."""

    def __call__(
        self, denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
    ) -> Iterator[Step]:
        """Yield len(sigmas) - 1 steps, or as many as it needs (`Step.done`).

        The last one's x is the result. `x` is not written to.
        """
        ...


class GuidedSampler(Protocol):
    """A `Sampler` that needs the picture under the negative prompt as well."""

    def __call__(
        self, denoise: GuidedDenoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
    ) -> Iterator[Step]:
        """As `Sampler`."""
        ...


def intervals(sigmas: Sigmas) -> Iterator[tuple[int, np.float32, np.float32]]:
    """Yield (index, sigma, next sigma) for each step of a schedule."""
    for index in range(len(sigmas) - 1):
        yield index, sigmas[index], sigmas[index + 1]


def derivative(x: Latent, sigma: np.float32, denoised: Latent) -> Latent:
    """Return dx/dsigma of the probability-flow equation (Karras et al. 2022, equation 3)."""
    return (x - denoised) / sigma
